import { existsSync } from "node:fs";
import { join } from "node:path";
import { readDockerignore } from "./build-context.ts";
import type { Process } from "./process.ts";

export interface Instruction {
  readonly keyword: string;
  readonly rest: string;
}

/** Instructions that the Dockerfile may use; another one is a decision, to be made here too. */
const KNOWN = ["ARG", "FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "CMD"];

/**
 * Faults of a Dockerfile that can be seen without building it: files to copy that do not exist or do not enter the
 * build context, stages that do not exist, scripts that package.json does not have, a command that no process is, root.
 */
export function findDockerfileFaults(
  text: string,
  tree: {
    readonly root: string;
    readonly dockerignore: string;
    readonly scripts: ReadonlySet<string>;
    readonly processes: readonly Process[];
  },
): string[] {
  const instructions = parseDockerfile(text);
  const faults = instructions
    .filter(({ keyword }) => !KNOWN.includes(keyword))
    .map(({ keyword }) => `${keyword} is no instruction this check knows`);
  const stages = new Set<string>();
  for (const { keyword, rest } of instructions) {
    const stage = /\sAS\s+(\S+)$/i.exec(rest)?.[1];
    if (keyword === "FROM" && stage !== undefined) stages.add(stage);
    if (keyword === "COPY") faults.push(...findCopyFaults(rest, { ...tree, stages }));
    const script = keyword === "RUN" ? /npm run (\S+)/.exec(rest)?.[1] : undefined;
    if (script !== undefined && !tree.scripts.has(script))
      faults.push(`RUN ${rest}: there is no script ${script}`);
  }
  faults.push(...findBaseFaults(instructions));
  return [...faults, ...findEndFaults(instructions, tree.processes)];
}

export function parseDockerfile(text: string): Instruction[] {
  return text
    .replace(/\\\n/g, " ")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [keyword = "", ...rest] = line.split(/\s+/);
      return { keyword: keyword.toUpperCase(), rest: rest.join(" ") };
    });
}

/** Node's oldest release line that is still maintained: the image has it or a later one. */
const OLDEST_NODE = 22;
/**
 * The newest line for which the flags of the EVM ingest are right: on Node 24 it takes half as much memory again with
 * --single-threaded-gc (decision 22). Measure, change the flags of the manifests, and then this.
 */
const FLAGS_UP_TO_NODE = 22;

/** All stages begin with one image, which a digest pins: a tag may be another image tomorrow. */
function findBaseFaults(instructions: readonly Instruction[]): string[] {
  const presets = new Map(
    instructions
      .filter(({ keyword }) => keyword === "ARG")
      .map(({ rest }) => [rest.split("=")[0] ?? "", rest.slice(rest.indexOf("=") + 1)]),
  );
  const bases = new Set(
    instructions
      .filter(({ keyword }) => keyword === "FROM")
      .map(({ rest }) =>
        (rest.split(" ")[0] ?? "").replace(/\$\{(\w+)\}/g, (_, name) => presets.get(name) ?? ""),
      ),
  );
  const faults = bases.size === 1 ? [] : [`stages begin with ${bases.size} images: ${[...bases].join(", ")}`];
  for (const base of bases) {
    const [, version] = /^node:(\d+)[\w.-]*@sha256:[0-9a-f]{64}$/.exec(base) ?? [];
    if (version === undefined) faults.push(`FROM ${base}: no release line of Node with a digest`);
    else if (Number(version) < OLDEST_NODE) faults.push(`FROM ${base}: older than Node ${OLDEST_NODE}`);
    else if (Number(version) > FLAGS_UP_TO_NODE)
      faults.push(`FROM ${base}: the flags of the EVM ingest are for Node ${FLAGS_UP_TO_NODE}`);
  }
  return faults;
}

function findCopyFaults(
  rest: string,
  given: { readonly root: string; readonly dockerignore: string; readonly stages: ReadonlySet<string> },
): string[] {
  const words = rest.split(" ");
  const from = words.find((word) => word.startsWith("--from="))?.slice("--from=".length);
  if (from !== undefined)
    return given.stages.has(from) ? [] : [`COPY ${rest}: there is no stage ${from} above`];
  const { admitted } = readDockerignore(given.dockerignore);
  return words.slice(0, -1).flatMap((source) => {
    if (!existsSync(join(given.root, source))) return [`COPY ${rest}: ${source} does not exist`];
    const enters = admitted.some((path) => path === source || path.startsWith(`${source}/`));
    return enters ? [] : [`COPY ${rest}: .dockerignore keeps ${source} out`];
  });
}

/** The last stage decides what the image runs, and as which user. */
function findEndFaults(instructions: readonly Instruction[], processes: readonly Process[]): string[] {
  const last = instructions.slice(instructions.findLastIndex(({ keyword }) => keyword === "FROM"));
  const faults: string[] = [];
  const user = last.findLast(({ keyword }) => keyword === "USER")?.rest ?? "root";
  // Kubernetes needs a number to see that an image does not run as root.
  if (!/^[1-9]\d*(:[1-9]\d*)?$/.test(user))
    faults.push(`USER is ${user}, not the number of a user that is not root`);
  const command = last.findLast(({ keyword }) => keyword === "CMD")?.rest ?? "";
  if (!processes.some(({ built }) => command === `["node", "${built}"]`))
    faults.push(`CMD ${command} is no process`);
  return faults;
}
