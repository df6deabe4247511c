import { type Container, hasPort, listOf, listPods, type Pod, pick } from "./cluster.ts";
import type { KubernetesObject } from "./kustomize.ts";
import { type Process, readinessPath } from "./process.ts";
import {
  type Face,
  findWorkloadFaults,
  listenPorts,
  splitAddress,
  stopTimeMs,
  type Workload,
} from "./workload.ts";

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
    ...findUnlisted(objects, pods, workloads),
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

/**
 * The addresses that Services make: name and port, and which process answers there. Replicas of a StatefulSet have one
 * each, and one that does not run is known to be unreachable.
 */
function listFaces(objects: readonly KubernetesObject[], pods: readonly Pod[]): Face[] {
  return listOf(objects, "Service").flatMap(({ metadata, spec }) => {
    const pod = pick(pods, { matchLabels: spec?.selector ?? {} })[0];
    const service = metadata?.name ?? "";
    const replicas = pod?.serviceName === service ? namesOf(pod, MOST_REPLICAS) : [];
    return [service, ...replicas].flatMap((host) =>
      (spec?.ports ?? []).map(({ port, name }) => ({
        host,
        port,
        protocol: name as Face["protocol"],
        behind: pod?.name ?? "",
      })),
    );
  });
}

/** More than any list of ours has. */
const MOST_REPLICAS = 32;

function namesOf({ name, serviceName }: Pod, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${name}-${at}.${serviceName}`);
}

function maxReplicasOf(objects: readonly KubernetesObject[], { name, replicas = 1 }: Pod): number {
  const scaler = listOf(objects, "HorizontalPodAutoscaler").find(
    ({ spec }) => spec?.scaleTargetRef.name === name,
  );
  return scaler?.spec?.maxReplicas ?? replicas;
}

/** A list of replicas that leaves some out keeps requests from them; one address in front of all hides them. */
function findUnlisted(
  objects: readonly KubernetesObject[],
  pods: readonly Pod[],
  workloads: readonly Workload[],
): string[] {
  const gateway = workloads.find(({ name }) => name === "gateway")?.env ?? new Map<string, string>();
  return pods
    .filter(({ serviceName }) => serviceName !== undefined)
    .flatMap((pod) => {
      const variable = `${pod.name.toUpperCase().replaceAll("-", "_")}_URL`;
      const listed = new Set(
        (gateway.get(variable) ?? "").split(",").map((each) => splitAddress(each.trim()).host),
      );
      return namesOf(pod, maxReplicasOf(objects, pod))
        .filter((host) => !listed.has(host))
        .map((host) => `gateway: ${variable} does not name the replica ${host}`);
    });
}

/** Its command and variables, and what they refer to in vain. */
export function readWorkload(
  pod: Pod,
  {
    objects,
    rules,
  }: {
    readonly objects: readonly KubernetesObject[];
    readonly rules: Pick<ClusterRules, "secretKeys">;
  },
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
  if (container.image !== image && container.image?.endsWith(`/${image}`) !== true)
    faults.push(`runs ${container.image}, not ${image}`);
  for (const [name, port] of Object.entries(listenPorts(process, env))) {
    const declared = container.ports?.find((candidate) => candidate.name === name)?.containerPort;
    if (declared !== port) faults.push(`listens on ${port} for ${name}, but declares ${declared}`);
  }
  faults.push(...findProbeFaults(pod, container, process));
  const graceMs = (pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  const neededMs = stopTimeMs(process, env) + STOP_MARGIN_MS;
  if (graceMs < neededMs) faults.push(`is killed after ${graceMs} ms, stopping may take ${neededMs} ms`);
  if (container.resources?.limits?.memory === undefined) faults.push("its memory has no limit");
  return faults;
}

function findProbeFaults(pod: Pod, container: Container, { role }: Process): string[] {
  const alive = { startupProbe: "/livez", livenessProbe: "/livez" };
  // Nobody sends requests to an ingest.
  const probes = role === "ingest" ? alive : { ...alive, readinessProbe: readinessPath(pod.name) };
  return Object.entries(probes).flatMap(([name, path]) => {
    const request = container[name as keyof typeof alive | "readinessProbe"]?.httpGet;
    // Services ignore the gateway's query.
    const isRight =
      request?.path === path || (path === "/readyz" && request?.path === readinessPath("gateway"));
    if (!isRight) return [`${name} requests ${request?.path}, not ${path}`];
    return hasPort(pod, request.port)
      ? []
      : [`${name} requests the port ${request.port}, which it does not have`];
  });
}

/** Rights that no process of ours needs. */
export function findPrivileges({ spec }: Pod): string[] {
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
