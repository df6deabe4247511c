import { hasPort, listJobs, listMakers, listOf, listPods, type Pod, pick } from "./cluster.ts";
import type { KubernetesObject } from "./kustomize.ts";

/** References between objects that lead nowhere or to the wrong place: selectors, ports, targets, duplicates. */
export function findLinkFaults(objects: readonly KubernetesObject[]): string[] {
  const pods = listPods(objects);
  return [
    ...findDuplicates(objects),
    ...findDeploymentFaults(objects, pods),
    ...findServiceFaults(objects, pods),
    ...findScalerFaults(objects, pods),
    ...findBudgetFaults(objects, pods),
    ...findPolicyFaults(objects, [...pods, ...listJobs(objects).map(({ pod }) => pod)]),
  ];
}

function findDuplicates(objects: readonly KubernetesObject[]): string[] {
  const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  return names.filter((name, at) => names.indexOf(name) !== at).map((name) => `${name}: there are two`);
}

function findDeploymentFaults(objects: readonly KubernetesObject[], pods: readonly Pod[]): string[] {
  return listMakers(objects).flatMap(({ kind, metadata, spec }) => {
    const chosen = pick(pods, spec?.selector ?? {}).map(({ name }) => name);
    return chosen.length === 1 && chosen[0] === metadata?.name
      ? []
      : [`${kind} ${metadata?.name}: its selector picks ${chosen.join(", ") || "no pod"}`];
  });
}

/** Ports that serve what only operators should see. */
const OPERATORS = ["admin", "metrics"] as const;

function isSamePort({ spec }: Pod, name: string, port: string | number): boolean {
  const ports = spec.containers.flatMap((container) => container.ports ?? []);
  return ports.some((each) => each.name === name && (each.name === port || each.containerPort === port));
}

function findServiceFaults(objects: readonly KubernetesObject[], pods: readonly Pod[]): string[] {
  return listOf(objects, "Service").flatMap(({ metadata, spec }) => {
    const chosen = pick(pods, { matchLabels: spec?.selector ?? {} });
    const called = `Service ${metadata?.name}`;
    if (chosen.length !== 1) return [`${called}: its selector picks ${chosen.length} Deployments`];
    const targets = (spec?.ports ?? []).map(({ port, targetPort = port }) => targetPort);
    return [
      ...targets
        .filter((target) => !chosen.every((pod) => hasPort(pod, target)))
        .map((target) => `${called}: ${chosen[0]?.name} has no port ${target}`),
      ...targets
        .filter((target) => chosen.some((pod) => OPERATORS.some((name) => isSamePort(pod, name, target))))
        .map((target) => `${called}: the port ${target} is for operators, not for who calls the service`),
    ];
  });
}

function findScalerFaults(objects: readonly KubernetesObject[], pods: readonly Pod[]): string[] {
  return listOf(objects, "HorizontalPodAutoscaler").flatMap(({ metadata, spec }) => {
    const called = `HorizontalPodAutoscaler ${metadata?.name}`;
    const target = pods.find(({ name }) => name === spec?.scaleTargetRef.name);
    if (target === undefined)
      return [`${called}: there is no ${spec?.scaleTargetRef.kind} ${spec?.scaleTargetRef.name}`];
    const faults: string[] = [];
    if (target.replicas !== undefined)
      faults.push(`${called}: ${target.name} also states a count of its own`);
    if (target.spec.containers.some(({ resources }) => resources?.requests?.cpu === undefined)) {
      faults.push(`${called}: ${target.name} requests no CPU that a share could be taken of`);
    }
    return faults;
  });
}

function findBudgetFaults(objects: readonly KubernetesObject[], pods: readonly Pod[]): string[] {
  return listOf(objects, "PodDisruptionBudget")
    .map(({ metadata, spec }) => ({ name: metadata?.name, chosen: pick(pods, spec?.selector ?? {}).length }))
    .filter(({ chosen }) => chosen !== 1)
    .map(({ name, chosen }) => `PodDisruptionBudget ${name}: its selector picks ${chosen} Deployments`);
}

interface Rule {
  readonly from?: readonly unknown[];
  readonly ports?: readonly { readonly port?: string | number }[];
}

/** Whether a rule without peers names a port of operators, or no port, which is any. */
function isOpenToAll({ from = [], ports = [] }: Rule, guarded: readonly Pod[]): boolean {
  if (from.length > 0) return false;
  const isOfOperators = (port: string | number) =>
    guarded.some((pod) => OPERATORS.some((name) => isSamePort(pod, name, port)));
  return ports.length === 0 || ports.some(({ port }) => port === undefined || isOfOperators(port));
}

/** A policy that picks no pod protects nothing; a peer or port that does not exist admits no request. */
function findPolicyFaults(objects: readonly KubernetesObject[], pods: readonly Pod[]): string[] {
  return listOf(objects, "NetworkPolicy").flatMap(({ metadata, spec }) => {
    const called = `NetworkPolicy ${metadata?.name}`;
    const guarded = pick(pods, spec?.podSelector ?? {});
    const ingress = spec?.ingress ?? [];
    const peers = [
      ...ingress.flatMap(({ from = [] }) => from),
      ...(spec?.egress ?? []).flatMap(({ to = [] }) => to),
    ];
    const faults = guarded.length === 0 ? [`${called}: it picks no pod`] : [];
    for (const { podSelector } of peers) {
      if (podSelector !== undefined && pick(pods, podSelector).length === 0)
        faults.push(`${called}: a peer picks no pod`);
    }
    if (ingress.some((rule) => isOpenToAll(rule, guarded)))
      faults.push(`${called}: it lets everybody reach a port of operators`);
    for (const { port } of ingress.flatMap(({ ports = [] }) => ports)) {
      if (port !== undefined && !guarded.some((pod) => hasPort(pod, port))) {
        faults.push(`${called}: no guarded pod has the port ${port}`);
      }
    }
    return faults;
  });
}
