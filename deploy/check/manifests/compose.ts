import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import { parse } from "yaml";
import { ROOT } from "../command.ts";
import { type Process, readinessPath } from "./process.ts";
import { type Face, findWorkloadFaults, listenPorts, stopTimeMs, type Workload } from "./workload.ts";

interface ComposeService {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly mem_limit?: string;
  readonly logging?: { readonly options?: Readonly<Record<string, string>> };
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks?: Readonly<Record<string, unknown>>;
  readonly volumes?: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, unknown>>;
}

/** Stores that run beside the processes, by the name of their Compose service. */
const STORES: readonly Face[] = [
  { host: "mongodb", port: 27017, protocol: "mongodb", behind: "mongodb" },
  { host: "redis", port: 6379, protocol: "redis", behind: "redis" },
];
/** What is not ours and nobody connects to by a setting. */
const OTHERS: readonly string[] = ["mongodb-init", "prometheus", "grafana"];
/** Time beyond draining for closing stores and for the runtime to end. */
const STOP_MARGIN_MS = 5_000;

/** Every fault of docker-compose.yml: of its form by the Compose schema, and of what it says by the tree. */
export function findComposeFaults(text: string, processes: readonly Process[]): string[] {
  const interpolated = interpolate(text);
  const formFaults = findFormFaults(interpolated);
  return formFaults.length > 0 ? formFaults : findContentFaults(interpolated as ComposeFile, processes);
}

/** Parses Compose YAML with merge keys, and puts defaults in place of ${NAME:-default}, as on a machine without settings. */
export function interpolate(text: string): unknown {
  const value: unknown = parse(text, { merge: true });
  return JSON.parse(JSON.stringify(value), (_key, item) =>
    typeof item === "string"
      ? item.replace(/\$\{\w+(?::?-([^}]*)|:?\?[^}]*)?\}/g, (_match, preset?: string) => preset ?? "")
      : item,
  );
}

function findFormFaults(document: unknown): string[] {
  compiled ??= compileSchema();
  if (compiled(document)) return [];
  return (compiled.errors ?? []).map(({ instancePath, message, params }) => {
    const { additionalProperty } = params as { additionalProperty?: string };
    return `${instancePath || "/"} ${message}${additionalProperty === undefined ? "" : `: ${additionalProperty}`}`;
  });
}

/** The Compose schema is large: compiled at its first use only. */
let compiled: ValidateFunction | undefined;

function compileSchema(): ValidateFunction {
  const folder = dirname(createRequire(import.meta.url).resolve("dclint/package.json"));
  const text = readFileSync(join(folder, "schemas/compose.schema.json"), "utf8");
  // The schema names its draft by an address that ajv does not know.
  const { $schema: _, ...schema } = JSON.parse(text) as Record<string, unknown>;
  const ajv = new Ajv({ allErrors: true, strict: false });
  formats.default(ajv);
  return ajv.compile(schema);
}

function findContentFaults(file: ComposeFile, processes: readonly Process[]): string[] {
  const services = Object.entries(file.services);
  const ours = services.filter(
    ([name]) => !STORES.some(({ host }) => host === name) && !OTHERS.includes(name),
  );
  const workloads = ours.map(([name, service]) => toWorkload(name, service));
  const faces = [...workloads.flatMap((workload) => listFaces(workload, processes)), ...STORES].filter(
    ({ host }) => host in file.services,
  );
  return [
    ...findWorkloadFaults(workloads, { processes, faces }),
    ...findImageFaults(ours),
    ...ours.flatMap(([name, service]) =>
      findServiceFaults(
        service,
        processes.find((p) => p.name === name),
      ).map((fault) => `${name}: ${fault}`),
    ),
    ...services.flatMap(([name, service]) =>
      [...findReferenceFaults(service, file), ...findBoundFaults(service)].map(
        (fault) => `${name}: ${fault}`,
      ),
    ),
  ];
}

function toWorkload(name: string, { command = [], environment = {} }: ComposeService): Workload {
  return { name, command, env: new Map(Object.entries(environment)) };
}

function listFaces({ name, env }: Workload, processes: readonly Process[]): Face[] {
  const process = processes.find((candidate) => candidate.name === name);
  if (process === undefined) return [];
  return Object.entries(listenPorts(process, env)).map(([protocol, port]) => ({
    host: name,
    port,
    protocol: protocol as Face["protocol"],
    behind: name,
  }));
}

/** One image for all, built by one service: Compose takes the built one for the others instead of pulling. */
function findImageFaults(ours: readonly (readonly [string, ComposeService])[]): string[] {
  const images = new Set(ours.map(([, { image }]) => image));
  const builders = ours.filter(([, { build }]) => build !== undefined).map(([name]) => name);
  const faults: string[] = [];
  if (images.size !== 1) faults.push(`processes run ${images.size} images: ${[...images].join(", ")}`);
  if (builders.length !== 1) faults.push(`one process must build the image, ${builders.length} do`);
  return faults;
}

function findServiceFaults(service: ComposeService, process: Process | undefined): string[] {
  if (process === undefined) return [];
  const env = new Map(Object.entries(service.environment ?? {}));
  const ports = listenPorts(process, env);
  const { http } = ports;
  const faults = findHardeningFaults(service);
  const graceMs = Number(/^(\d+)s$/.exec(service.stop_grace_period ?? "10s")?.[1]) * 1000;
  const neededMs = stopTimeMs(process, env) + STOP_MARGIN_MS;
  if (!(graceMs >= neededMs))
    faults.push(`stop_grace_period is ${graceMs} ms, stopping may take ${neededMs} ms`);
  const listening = Object.values(ports);
  for (const published of service.ports ?? []) {
    const port = Number(published.split(":").at(-1));
    if (!listening.includes(port))
      faults.push(`publishes ${published}, but listens on ${listening.join(" and ") || "none"}`);
    if (port === (ports.admin ?? ports.metrics) && !published.startsWith("127.0.0.1:"))
      faults.push(`publishes ${published} beyond this machine, which is for operators`);
  }
  const probe = `127.0.0.1:${http}${readinessPath(process.name)}`;
  if (http !== undefined && !service.healthcheck?.test.join(" ").includes(`//${probe}`)) {
    faults.push(`its health check does not request ${probe}`);
  }
  return faults;
}

function findHardeningFaults(service: ComposeService): string[] {
  const faults: string[] = [];
  if (service.read_only !== true) faults.push("its disk is not read-only");
  if (!service.cap_drop?.includes("ALL")) faults.push("it keeps capabilities");
  return faults;
}

/** What one container must not take from the machine, and whom it must not let in. */
function findBoundFaults({ mem_limit, logging, security_opt, ports = [], image }: ComposeService): string[] {
  const faults: string[] = [];
  if (mem_limit === undefined) faults.push("its memory has no limit");
  if (logging?.options?.["max-size"] === undefined) faults.push("its log has no limit");
  if (!security_opt?.includes("no-new-privileges:true")) faults.push("it may gain privileges");
  if (image === undefined || !/:[\w.-]*\w$/.test(image)) faults.push(`its image ${image} has no tag`);
  if (!image?.startsWith("chaintables:"))
    for (const port of ports)
      if (!port.startsWith("127.0.0.1:")) faults.push(`publishes ${port} beyond this machine`);
  return faults;
}

function findReferenceFaults(
  service: ComposeService,
  { services, networks = {}, secrets = {}, volumes = {} }: ComposeFile,
): string[] {
  const faults = (service.networks ?? [])
    .filter((name) => !(name in networks))
    .map((name) => `no network ${name}`);
  faults.push(...findMountFaults(service, { secrets, volumes }));
  for (const [name, { condition }] of Object.entries(service.depends_on ?? {})) {
    const target = services[name];
    if (target === undefined) faults.push(`waits for ${name}, which does not exist`);
    else if (condition === "service_healthy" && target.healthcheck === undefined) {
      faults.push(`waits for ${name} to be healthy, which has no health check`);
    }
  }
  return faults;
}

/** Secrets and volumes that are not there. */
function findMountFaults(
  service: ComposeService,
  { secrets, volumes }: { readonly secrets: object; readonly volumes: object },
): string[] {
  const faults: string[] = [];
  for (const name of service.secrets ?? []) if (!(name in secrets)) faults.push(`no secret ${name}`);
  for (const [name, path] of Object.entries(service.environment ?? {})) {
    const secret = /^\/run\/secrets\/(\w+)$/.exec(path)?.[1];
    if (secret !== undefined && !service.secrets?.includes(secret))
      faults.push(`${name} names the secret ${secret}, which is not mounted`);
  }
  for (const mount of service.volumes ?? []) {
    const source = mount.split(":")[0] ?? "";
    if (source.startsWith("./") ? !existsSync(join(ROOT, source)) : !(source in volumes))
      faults.push(`mounts ${source}, which does not exist`);
  }
  return faults;
}
