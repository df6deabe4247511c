import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { programCommand } from "../../services/shared/testkit/program-command.ts";

export interface Finished {
  readonly code: number | null;
  /** What ended it, where no exit code says so. */
  readonly endedBy: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Child {
  /** Everything written so far. */
  readonly stdout: () => string;
  readonly finished: Promise<Finished>;
  signal(name: "SIGTERM" | "SIGINT" | "SIGKILL"): void;
}

/** Starts a program of this folder (`main.ts`, `keys.ts`) in a process of its own, under the runtime of the test. */
export function startProgram(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Child {
  const [command, ...words] = programCommand(new URL(`../${file}`, import.meta.url), args);
  // Nothing of the environment of the tests: a MONGODB_URL meant for others must not decide where keys go.
  const inherited = Object.fromEntries(
    ["PATH", "HOME", "DENO_DIR", "TMPDIR"].flatMap((name) =>
      process.env[name] ? [[name, process.env[name]]] : [],
    ),
  );
  const child = spawn(command, words, {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, endedBy) => resolve({ code, endedBy, stdout, stderr }));
  });
  const signal = (name: NodeJS.Signals) => {
    // Not child.kill: after it Deno reports the end as this signal's work, whatever exit code the child gave.
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(child.pid, name);
  };
  return { stdout: () => stdout, finished, signal };
}
