import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "../command.ts";

/** A path of this repository in a code span: it starts at the top level. `*` and `<…>` stand for something. */
const SPAN = /`((?:gateway|services|deploy|bench|proto|clients|docs)\/[\w./-]+)`/g;
const LINK = /\]\(([^)#\s]+)(?:#[^)]*)?\)/g;
/** History: it may name what is gone. */
const HISTORY = "CHANGELOG.md";

/** Paths and links of a document that lead nowhere, in words. `exists` takes a path relative to the repository. */
export function findDeadPaths(
  { path, text }: { readonly path: string; readonly text: string },
  exists: (path: string) => boolean,
): string[] {
  const spans = [...text.matchAll(SPAN)].map(([, target = ""]) => target);
  const links = [...text.matchAll(LINK)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => join(dirname(path), target));
  return [...new Set([...spans, ...links])]
    .filter((target) => !exists(target))
    .map((target) => `${path} names ${target}, which is not there`);
}

/** The same for every Markdown file of the repository but its history. */
export async function findDeadPathsOf(root: string): Promise<{ faults: string[]; documents: number }> {
  const { stdout } = await run(["git", "ls-files", "*.md"], { cwd: root });
  const paths = stdout.split("\n").filter((path) => path !== "" && path !== HISTORY);
  const exists = (path: string) => existsSync(join(root, path));
  const documents = paths
    .filter(exists)
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
  return { faults: documents.flatMap((each) => findDeadPaths(each, exists)), documents: documents.length };
}
