import { type Container, hasPort, listOf, listPods, type Pod, pick } from "./cluster.ts";
import type { KubernetesObject } from "./kustomize.ts";
import { type Process, readinessPath } from "./process.ts";
import { type Face, findWorkloadFaults, listenPorts, stopTimeMs, type Workload } from "./workload.ts";

export interface ClusterRules {
  readonly processes: readonly Process[];
  /** Keys of the Secret that an installer must make, where the rendered objects do not hold it. */
  readonly secretKeys: ReadonlySet<string>;
  /** Image of every process, with its tag. */
  readonly image: string;
}

/** Stores outside the cluster or in the overlay; Secret values are not looked into. */
const OTHER_PODS: ReadonlySet<string> = new Set(["mongodb", "redis"]);
/** Time beyond draining for closing stores and for the runtime to end. */
const STOP_MARGIN_MS = 5_000;

/** What pods say, held against the tree and the settings table: commands, variables, ports, probes, privileges. */
export function findPodFaults(objects: readonly KubernetesObject[], rules: ClusterRules): string[] {
  const pods = listPods(objects);
  const ours = pods.filter(({ name }) => !OTHER_PODS.has(name));
  const read = ours.map((pod) => readWorkload(pod, { objects, rules }));
  const workloads = read.map(({ workload }) => workload);
  const faces = listFaces(objects, pods);
  return [
    ...read.flatMap(({ faults }) => faults),
    ...findWorkloadFaults(workloads, { processes: rules.processes, faces }),
    ...pods.flatMap((pod) => findPrivileges(pod).map((fault) => `${pod.name}: ${fault}`)),
    ...ours.flatMap((pod, at) => {
      const process = rules.processes.find(({ name }) => name === pod.name);
      const env = workloads[at]?.env ?? new Map();
      return process === undefined
        ? []
        : findProcessFaults(pod, { process, env, image: rules.image }).map(
            (fault) => `${pod.name}: ${fault}`,
          );
    }),
  ];
}

/** The addresses that Services make: name and port, and which process answers there. */
function listFaces(objects: readonly KubernetesObject[], pods: readonly Pod[]): Face[] {
  return listOf(objects, "Service").flatMap(({ metadata, spec }) => {
    const behind = pick(pods, { matchLabels: spec?.selector ?? {} })[0]?.name ?? "";
    return (spec?.ports ?? []).map(({ port, name }) => ({
      host: metadata?.name ?? "",
      port,
      protocol: name as Face["protocol"],
      behind,
    }));
  });
}

function readWorkload(
  pod: Pod,
  { objects, rules }: { readonly objects: readonly KubernetesObject[]; readonly rules: ClusterRules },
): { workload: Workload; faults: string[] } {
  const container = pod.spec.containers[0] as Container;
  const faults: string[] = [];
  const env = new Map<string, string | undefined>();
  for (const { configMapRef } of container.envFrom ?? []) {
    const map = listOf(objects, "ConfigMap").find(({ metadata }) => metadata?.name === configMapRef?.name);
    if (map === undefined) faults.push(`${pod.name}: there is no ConfigMap ${configMapRef?.name}`);
    for (const [name, value] of Object.entries(map?.data ?? {})) env.set(name, value);
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    env.set(name, value);
    const wanted = valueFrom?.secretKeyRef;
    if (wanted === undefined) continue;
    const secret = listOf(objects, "Secret").find(({ metadata }) => metadata?.name === wanted.name);
    const keys = secret === undefined ? rules.secretKeys : new Set(Object.keys(secret.data ?? {}));
    if (!keys.has(wanted.key) && !(wanted.optional === true && rules.secretKeys.has(wanted.key))) {
      faults.push(`${pod.name}: ${name} wants the key ${wanted.key}, which the Secret does not have`);
    }
  }
  return { workload: { name: pod.name, command: container.command ?? [], env }, faults };
}

function findProcessFaults(
  pod: Pod,
  given: { readonly process: Process; readonly env: Workload["env"]; readonly image: string },
): string[] {
  const { process, env, image } = given;
  const container = pod.spec.containers[0] as Container;
  const faults: string[] = [];
  if (container.image !== image) faults.push(`runs ${container.image}, not ${image}`);
  for (const [name, port] of Object.entries(listenPorts(process, env))) {
    const declared = container.ports?.find((candidate) => candidate.name === name)?.containerPort;
    if (declared !== port) faults.push(`listens on ${port} for ${name}, but declares ${declared}`);
  }
  if (process.role !== "ingest") faults.push(...findProbeFaults(pod, container));
  const graceMs = (pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  const neededMs = stopTimeMs(process, env) + STOP_MARGIN_MS;
  if (graceMs < neededMs) faults.push(`is killed after ${graceMs} ms, stopping may take ${neededMs} ms`);
  if (container.resources?.limits?.memory === undefined) faults.push("its memory has no limit");
  return faults;
}

function findProbeFaults(pod: Pod, container: Container): string[] {
  const probes = {
    startupProbe: "/livez",
    livenessProbe: "/livez",
    readinessProbe: readinessPath(pod.name),
  };
  return Object.entries(probes).flatMap(([name, path]) => {
    const request = container[name as keyof typeof probes]?.httpGet;
    // Services ignore the gateway's query.
    const isRight =
      request?.path === path || (path === "/readyz" && request?.path === readinessPath("gateway"));
    if (!isRight) return [`${name} requests ${request?.path}, not ${path}`];
    return hasPort(pod, request.port)
      ? []
      : [`${name} requests the port ${request.port}, which it does not have`];
  });
}

function findPrivileges({ spec }: Pod): string[] {
  const faults: string[] = [];
  if (spec.securityContext?.runAsNonRoot !== true) faults.push("may run as root");
  if (spec.securityContext?.seccompProfile?.type !== "RuntimeDefault") faults.push("has no seccomp profile");
  if (spec.automountServiceAccountToken !== false) faults.push("is given a token of the cluster");
  for (const { securityContext } of spec.containers) {
    if (securityContext?.allowPrivilegeEscalation !== false) faults.push("may gain privileges");
    if (securityContext?.readOnlyRootFilesystem !== true) faults.push("its disk is not read-only");
    if (!securityContext?.capabilities?.drop?.includes("ALL")) faults.push("keeps capabilities");
  }
  return faults;
}
