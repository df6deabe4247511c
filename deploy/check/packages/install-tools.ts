import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CommandOptions, type CommandResult, run } from "../command.ts";

const FLAGS = ["--save-exact", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
const TIMEOUT_MS = 300_000;

/** Installs packages that only a check needs, and so no dependency of the project, into a folder of their own. */
export function installTools(
  folder: string,
  packages: readonly string[],
  env: CommandOptions["env"] = {},
): Promise<CommandResult> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  return run(["npm", "install", ...FLAGS, ...packages], { cwd: folder, env, timeoutMs: TIMEOUT_MS });
}
