import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { run } from "../../deploy/check/command.ts";
import type { Sample } from "./served.ts";

const FOLDER = fileURLToPath(new URL("../python/", import.meta.url));
/** Debian's own comes first: its packages are of that one. */
const DEBIAN_PYTHON = "/usr/bin/python3";
const PYTHON = process.env.PYTHON || (existsSync(DEBIAN_PYTHON) ? DEBIAN_PYTHON : "python3");

/** Whether Python is there, and can import a module. */
export function hasPython(module = "sys"): boolean {
  return spawnSync(PYTHON, ["-c", `import ${module}`], { stdio: "ignore" }).status === 0;
}

/** The instance that tests in Python ask. */
export interface Asked {
  readonly url: string;
  readonly key: string;
  readonly samples: readonly Sample[];
  /** Where tests of live tables make blocks. */
  readonly control?: string;
}

/** Runs unittest of clients/python over what the arguments name; a test that failed or was skipped fails. Returns what it printed. */
export async function runUnittest({ url, key, samples, control }: Asked, ...args: string[]): Promise<string> {
  const env = {
    CHAINTABLES_URL: url,
    CHAINTABLES_API_KEY: key,
    CHAINTABLES_SAMPLES: JSON.stringify(samples),
    PYTHONDONTWRITEBYTECODE: "1",
    ...(control !== undefined && { CHAINTABLES_CONTROL: control }),
  };
  const { ok, output } = await run([PYTHON, "-W", "error", "-m", "unittest", ...args], { cwd: FOLDER, env });
  expect(ok, output).to.equal(true);
  expect(output).not.to.match(/skipped/);
  return output;
}
