import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ISecret } from "kubernetes-models/v1";
import { findJobFaults } from "./kubernetes-jobs.ts";
import { findLinkFaults } from "./kubernetes-links.ts";
import { type ClusterRules, findPodFaults } from "./kubernetes-pods.ts";
import { findSchemaFaults } from "./kubernetes-schema.ts";
import { type KubernetesObject, parseObjects } from "./kustomize.ts";
import { listProcesses } from "./process.ts";

/** The kustomizations that users apply. */
export const KUSTOMIZATIONS: readonly string[] = [
  "deploy/k8s/base",
  "deploy/k8s/overlays/local",
  "deploy/k8s/overlays/production",
  "deploy/k8s/overlays/backup",
];
/** Documentation of the Secret that the base refers to, and a valid Secret itself. */
export const SECRET_EXAMPLE = "deploy/k8s/base/secret.example.yaml";
/** A Job to copy, beside the component whose volume it reads. */
export const RESTORE_EXAMPLE = {
  job: "deploy/k8s/components/backup/restore.example.yaml",
  volume: "deploy/k8s/components/backup/volume.yaml",
} as const;

/** Every fault of rendered objects: of their form by the Kubernetes API, and of what they say by the tree. */
export async function findKubernetesFaults(
  objects: readonly KubernetesObject[],
  rules: ClusterRules,
): Promise<string[]> {
  const formFaults = await findSchemaFaults(objects);
  // What follows trusts the form of the objects.
  if (formFaults.length > 0) return formFaults;
  return [...findLinkFaults(objects), ...findPodFaults(objects, rules), ...findJobFaults(objects, rules)];
}

/** Every fault of the Job that restores, which no kustomization holds. */
export async function findRestoreFaults(
  objects: readonly KubernetesObject[],
  rules: ClusterRules,
): Promise<string[]> {
  const formFaults = await findSchemaFaults(objects);
  return formFaults.length > 0 ? formFaults : findJobFaults(objects, rules);
}

/** What the tree below `root` wants of a cluster. */
export function readClusterRules(root: string): ClusterRules {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const secret = parseObjects(readFileSync(join(root, SECRET_EXAMPLE), "utf8"))[0] as unknown as ISecret;
  return {
    processes: listProcesses(root),
    secretKeys: new Set(Object.keys(secret.stringData ?? {})),
    image: `chaintables:${version}`,
  };
}
