import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ROOT } from "../command.ts";
import type { Step } from "../step.ts";
import { findComposeFaults } from "./compose.ts";
import { findDockerfileFaults } from "./dockerfile.ts";
import {
  findKubernetesFaults,
  findRestoreFaults,
  KUSTOMIZATIONS,
  RESTORE_EXAMPLE,
  readClusterRules,
  SECRET_EXAMPLE,
} from "./kubernetes.ts";
import { findSchemaFaults } from "./kubernetes-schema.ts";
import { fetchKubectl, findRenderer, parseObjects, renderKustomization } from "./kustomize.ts";
import { listProcesses } from "./process.ts";

/** Holds everything one deploys with against schemas, the tree and the settings table. */
export const manifestSteps: readonly Step[] = [
  {
    name: "docker-compose.yml",
    inspect: () => ({ faults: findComposeFaults(read("docker-compose.yml"), listProcesses(ROOT)) }),
  },
  { name: "Dockerfile", inspect: () => ({ faults: inspectDockerfile() }) },
  {
    name: SECRET_EXAMPLE,
    inspect: async () => ({ faults: await findSchemaFaults(parseObjects(read(SECRET_EXAMPLE))) }),
  },
  {
    name: RESTORE_EXAMPLE.job,
    inspect: async () => ({
      faults: await findRestoreFaults(
        Object.values(RESTORE_EXAMPLE).flatMap((path) => parseObjects(read(path))),
        readClusterRules(ROOT),
      ),
    }),
  },
  ...KUSTOMIZATIONS.map((folder) => ({ name: folder, inspect: () => inspectKustomization(folder) })),
];

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

function inspectDockerfile(): string[] {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  return findDockerfileFaults(read("deploy/Dockerfile"), {
    root: ROOT,
    dockerignore: read(".dockerignore"),
    scripts: new Set(Object.keys(scripts)),
    processes: listProcesses(ROOT),
  });
}

async function inspectKustomization(folder: string): Promise<{ faults: string[]; seen: string }> {
  const objects = await renderKustomization(folder, await ensureRenderer());
  const faults = await findKubernetesFaults(objects, readClusterRules(ROOT));
  return { faults, seen: `${objects.length} objects` };
}

/** A renderer on PATH, for the tests that follow too; fetched where the machine has none. */
async function ensureRenderer(): Promise<readonly string[]> {
  const found = await findRenderer();
  if (found !== undefined) return found;
  process.env.PATH = [await fetchKubectl(), process.env.PATH].join(delimiter);
  return (await findRenderer()) as readonly string[];
}
