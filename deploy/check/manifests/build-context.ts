import { cpSync, mkdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** What of a tree enters the build of an image, by its .dockerignore. */
export interface ContextRules {
  readonly admitted: readonly string[];
  /** By the name of a file or folder at any depth. */
  readonly isLeftOut: (name: string) => boolean;
}

// Everything is ignored ("*") but what "!" names; of that, "**/name" and "**/*.end" are.
/** Throws for forms that this check does not know. */
export function readDockerignore(text: string): ContextRules {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  if (lines[0] !== "*") throw new Error(".dockerignore must begin by ignoring everything.");
  const admitted: string[] = [];
  const names: string[] = [];
  for (const line of lines.slice(1)) {
    if (line.startsWith("!")) admitted.push(line.slice(1));
    else if (/^\*\*\/(\*\.)?[\w.-]+$/.test(line)) names.push(line.slice("**/".length));
    else throw new Error(`Cannot judge the line ${line} of .dockerignore.`);
  }
  const isLeftOut = (name: string) =>
    names.some((pattern) => (pattern.startsWith("*") ? name.endsWith(pattern.slice(1)) : name === pattern));
  return { admitted, isLeftOut };
}

/** Copies what enters the build into a folder. */
export function copyContext(root: string, folder: string, { admitted, isLeftOut }: ContextRules): void {
  for (const path of admitted) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path), {
      recursive: true,
      filter: (source) => !relative(root, source).split("/").some(isLeftOut),
    });
  }
}
