import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { commandLineOf } from "../process/program.ts";

const HOUSE = fileURLToPath(new URL("../../../", import.meta.url));

/**
 * What to spawn for a program of this repository. `npm test` bundles the programs once into the folder TEST_DIST, as the
 * image has them: they start with a quarter of the CPU, and tests start hundreds. Else the source is run.
 */
export function programCommand(
  entry: URL,
  args: readonly string[] = [],
): [command: string, ...args: string[]] {
  const built = builtFile(fileURLToPath(entry));
  return built === undefined
    ? commandLineOf({ entry, args }, { graceMs: 1_000 })
    : [process.execPath, built, ...args];
}

function builtFile(source: string): string | undefined {
  const { TEST_DIST } = process.env;
  if (TEST_DIST === undefined || "Deno" in globalThis) return undefined;
  const file = join(HOUSE, TEST_DIST, relative(HOUSE, source).replace(/\.ts$/, ".js"));
  return existsSync(file) ? file : undefined;
}
