import { cpSync, mkdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { run } from "../command.ts";
import { copyContext, readDockerignore } from "./build-context.ts";
import { parseDockerfile } from "./dockerfile.ts";

export interface BuiltImage {
  /** Where the last stage works: what the image's WORKDIR holds. */
  readonly folder: string;
  /** What ENV sets in the last stage. */
  readonly env: Readonly<Record<string, string>>;
  /** What went wrong; the steps after it were not executed. */
  readonly faults: readonly string[];
}

interface Stage {
  /** Stands for `/`. */
  readonly root: string;
  workdir: string;
  readonly env: Record<string, string>;
}

export interface BuildOptions {
  /** The tree that is built, with its .dockerignore. */
  readonly root: string;
  readonly dockerignore: string;
  /** Empty; everything happens in it. */
  readonly folder: string;
  /** For RUN, beside what ENV sets. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Executes the steps of a Dockerfile on this machine, as far as that goes without an engine: each stage is a folder that
 * begins empty, and the base image's Node is this machine's. RUN sees what COPY brought and nothing else of the tree.
 */
export async function buildImage(text: string, options: BuildOptions): Promise<BuiltImage> {
  const context = join(options.folder, "context");
  copyContext(options.root, context, readDockerignore(options.dockerignore));
  const stages = new Map<string, Stage>();
  let stage: Stage = { root: context, workdir: "/", env: {} };
  const built = (faults: readonly string[]) => ({ folder: at(stage, ""), env: stage.env, faults });
  for (const { keyword, rest } of parseDockerfile(text)) {
    try {
      if (keyword === "FROM") {
        const name = /\sAS\s+(\S+)$/i.exec(rest)?.[1] ?? `stage-${stages.size}`;
        stage = { root: join(options.folder, name), workdir: "/", env: {} };
        mkdirSync(stage.root, { recursive: true });
        stages.set(name, stage);
      } else if (keyword === "WORKDIR") {
        stage.workdir = rest;
        mkdirSync(at(stage, ""), { recursive: true });
      } else if (keyword === "ENV") Object.assign(stage.env, readPairs(rest));
      else if (keyword === "COPY") copy(rest, { stage, stages, context });
      else if (keyword === "RUN") {
        const command = ["sh", "-c", inRoot(rest, stage.root)];
        const { ok, output } = await run(command, {
          cwd: at(stage, ""),
          env: { ...options.env, ...stage.env },
        });
        if (!ok) return built([`RUN ${rest}: ${output}`]);
      }
    } catch (error) {
      return built([`${keyword} ${rest}: ${error instanceof Error ? error.message : String(error)}`]);
    }
  }
  return built([]);
}

function at({ root, workdir }: Stage, path: string): string {
  return path.startsWith("/") ? join(root, path) : join(root, workdir, path);
}

function copy(
  rest: string,
  { stage, stages, context }: { stage: Stage; stages: ReadonlyMap<string, Stage>; context: string },
): void {
  const words = rest.split(" ");
  const from = words.find((word) => word.startsWith("--from="))?.slice("--from=".length);
  const paths = words.filter((word) => !word.startsWith("--"));
  const target = paths.pop() ?? "";
  for (const path of paths) {
    const source = from === undefined ? join(context, path) : join(stages.get(from)?.root ?? "", path);
    // Of a folder its contents are copied, of a file itself.
    const isInto = target.endsWith("/") && statSync(source).isFile();
    cpSync(source, isInto ? join(at(stage, target), basename(path)) : at(stage, target), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
}

/** `A=b C="d e"`. */
function readPairs(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)].map(([, name = "", quoted, bare]) => [
      name,
      quoted ?? bare ?? "",
    ]),
  );
}

/** A command whose absolute paths lie in the stage, as in a container. */
function inRoot(command: string, root: string): string {
  return command.replace(/(^|\s)\/(?=\w)/g, `$1${root}/`);
}
