import { INGEST_MALLOC } from "../../../services/shared/process/malloc.ts";
import type { Settings } from "../../../services/shared/settings/env.ts";
import { SERVICE_PORTS, SETTINGS, type ServiceName } from "../../../services/shared/settings/settings.ts";
import type { Process } from "./process.ts";

/** A process as a manifest starts it, in Compose or Kubernetes. */
export interface Workload {
  readonly name: string;
  /** The arguments of the container. */
  readonly command: readonly string[];
  /** Variables with their values; undefined where the value is in a Secret. */
  readonly env: ReadonlyMap<string, string | undefined>;
}

/** An address under which one workload can be reached by the others. */
export interface Face {
  readonly host: string;
  readonly port: number;
  readonly protocol: "http" | "grpc" | "metrics" | "admin" | "mongodb" | "redis";
  /** Name of the process or store behind it. */
  readonly behind: string;
}

const settings: Settings = SETTINGS;
/** Read by no program of ours, but by the C library of an ingest. */
const ALLOCATOR: Readonly<Record<string, string>> = INGEST_MALLOC;
/** Variables whose value is the address of another process or store. */
const PEERS: Readonly<Record<string, Pick<Face, "behind" | "protocol">>> = {
  ...Object.fromEntries(
    Object.keys(SERVICE_PORTS).flatMap((name) => {
      const variable = name.toUpperCase().replaceAll("-", "_");
      return [
        [`${variable}_URL`, { behind: name, protocol: "http" }],
        [`${variable}_GRPC`, { behind: name, protocol: "grpc" }],
      ] as const;
    }),
  ),
  X402_FACILITATOR_URL: { behind: "facilitator", protocol: "http" },
  MONGODB_URL: { behind: "mongodb", protocol: "mongodb" },
  REDIS_URL: { behind: "redis", protocol: "redis" },
};

/** Ports that a workload listens on, by its settings. */
export function listenPorts(
  { role }: Process,
  env: Workload["env"],
): { http?: number; grpc?: number; metrics?: number; x402?: number; admin?: number } {
  if (role === "ingest") {
    const metrics = Number(env.get("INGEST_METRICS_PORT") ?? SETTINGS.INGEST_METRICS_PORT.default);
    return metrics === 0 ? {} : { metrics };
  }
  const portOf = (name: "GATEWAY_PORT" | "X402_PORT" | "FACILITATOR_PORT") =>
    Number(env.get(name) ?? SETTINGS[name].default);
  // In containers it is named: its default is in the programs.
  const admin = Number(env.get(role === "gateway" ? "ADMIN_PORT" : "FACILITATOR_ADMIN_PORT"));
  // The installer decides whether it sells anything; its port is there in any case.
  if (role === "gateway") return { http: portOf("GATEWAY_PORT"), x402: portOf("X402_PORT"), admin };
  if (role === "facilitator") return { http: portOf("FACILITATOR_PORT"), admin };
  if (!(role in SERVICE_PORTS)) return {};
  const defaults = SERVICE_PORTS[role as ServiceName];
  return {
    http: Number(env.get("HTTP_PORT") ?? defaults.http),
    grpc: Number(env.get("GRPC_PORT") ?? defaults.grpc),
  };
}

/** Milliseconds a workload may take to stop, by its settings. */
export function stopTimeMs({ role }: Process, env: Workload["env"]): number {
  return ["DRAIN_DELAY_MS", "DRAIN_TIMEOUT_MS"]
    .filter((name) => settings[name]?.usedBy.includes(role))
    .reduce((sum, name) => sum + Number(env.get(name) ?? settings[name]?.default), 0);
}

/**
 * Holds workloads against the processes of the tree and the settings table: every process once and nothing else,
 * every variable known, read by that process and well formed, every address leading to what it names.
 */
export function findWorkloadFaults(
  workloads: readonly Workload[],
  { processes, faces }: { readonly processes: readonly Process[]; readonly faces: readonly Face[] },
): string[] {
  const faults = processes
    .filter(({ name }) => !workloads.some((workload) => workload.name === name))
    .map(({ name, source }) => `${name}: ${source} exists, but nothing starts it`);
  for (const workload of workloads) {
    const process = processes.find(({ name }) => name === workload.name);
    if (process === undefined) faults.push(`${workload.name}: there is no such process`);
    else faults.push(...findFaults(workload, process, faces).map((fault) => `${workload.name}: ${fault}`));
  }
  return faults;
}

function findFaults({ command, env }: Workload, process: Process, faces: readonly Face[]): string[] {
  const faults: string[] = [];
  // Before the program there may be flags of Node and V8.
  const words = command.filter((word) => !word.startsWith("--"));
  if (words.join(" ") !== `node ${process.built}`) {
    faults.push(`starts "${command.join(" ")}", not "node ${process.built}"`);
  }
  for (const [name, value] of env) faults.push(...findSettingFaults({ name, value, process, faces }));
  for (const name of listRequired(process)) {
    if (!env.has(name) && !env.has(`${name}_FILE`))
      faults.push(`${name} is not set; its default serves one machine without containers`);
  }
  const setsAdmin = env.has("ADMIN_PORT") || env.has("FACILITATOR_ADMIN_PORT");
  const bindHost = env.get("BIND_HOST");
  if (bindHost !== undefined && bindHost !== "0.0.0.0")
    faults.push(`BIND_HOST is ${bindHost}, out of reach for others`);
  if (setsAdmin && env.get("ADMIN_HOST") !== "0.0.0.0")
    faults.push(`ADMIN_HOST is ${env.get("ADMIN_HOST")}, out of reach for monitoring`);
  return faults;
}

function findSettingFaults(given: {
  readonly name: string;
  readonly value: string | undefined;
  readonly process: Process;
  readonly faces: readonly Face[];
}): string[] {
  const { name, value, process, faces } = given;
  const secret = settings[name.replace(/_FILE$/, "")];
  if (!(name in settings) && secret?.secret === true) {
    if (!secret.usedBy.includes(process.role)) return [`${name} is not read by ${process.role}`];
    return value?.startsWith("/run/secrets/") === true ? [] : [`${name}=${value} is no secret's file`];
  }
  if (name in ALLOCATOR) {
    const wanted = process.role === "ingest" ? ALLOCATOR[name] : undefined;
    return value === wanted ? [] : [`${name} is ${value}, not ${wanted}`];
  }
  const setting = settings[name];
  if (setting === undefined) return [`${name} is no setting`];
  if (!setting.usedBy.includes(process.role)) return [`${name} is not read by ${process.role}`];
  // Whatever reads an empty value takes it as unset.
  if (value === undefined || value === "") return [];
  try {
    setting.parse(value);
  } catch (error) {
    return [`${name}=${value} must be ${(error as Error).message}`];
  }
  const peer = PEERS[name];
  if (peer === undefined) return [];
  return value.split(",").flatMap((address) => {
    const { host, port } = splitAddress(address.trim());
    const face = faces.find((candidate) => candidate.host === host && candidate.port === port);
    if (face === undefined) return [`${name}: nothing listens at ${address}`];
    if (face.behind === peer.behind && face.protocol === peer.protocol) return [];
    return [
      `${name}: ${address} is ${face.protocol} of ${face.behind}, not ${peer.protocol} of ${peer.behind}`,
    ];
  });
}

/** Settings that a process in a container cannot leave at their defaults: they point at its own machine and disk. */
function listRequired({ role }: Process): string[] {
  // An ingest asks no service: what SOLANA_GRPC names to it is a stream, which it can do without.
  const peers = role === "ingest" ? [] : Object.keys(PEERS);
  return ["BIND_HOST", ...peers].filter((name) => settings[name]?.usedBy.includes(role));
}

/** Host and port of a URL or of a gRPC target such as dns:///host:port. */
export function splitAddress(address: string): { host: string; port: number } {
  const found = /^(?:[a-z0-9+]+:\/\/(?:\/)?)?(?:[^/@]*@)?([^:/@,]+)(?::(\d+))?/i.exec(address);
  return { host: found?.[1] ?? "", port: Number(found?.[2]) };
}
