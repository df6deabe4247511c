import { fileURLToPath } from "node:url";
import { SUPERVISED } from "./process.ts";

/** A program of this repository, or any executable. */
export type Program =
  /** A main.ts (or main.js in dist) that uses runMain, run by the runtime we run on ourselves. */
  | { readonly entry: URL; readonly args?: readonly string[] }
  | { readonly command: string; readonly args?: readonly string[] };

/** Our own environment with `changes` (undefined takes a variable away), for a program under a supervisor. */
export function environmentOf(
  program: Program,
  changes: Readonly<Record<string, string | undefined>> = {},
): NodeJS.ProcessEnv {
  const merged: NodeJS.ProcessEnv = {
    ...process.env,
    ...changes,
    [SUPERVISED]: "entry" in program ? "1" : undefined,
  };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
}

/** What to spawn so that the program ends when our end of its stdin does, at the latest after `graceMs`. */
export function commandLineOf(
  program: Program,
  { graceMs }: { graceMs: number },
): [command: string, ...args: string[]] {
  const { args = [] } = program;
  if ("entry" in program) {
    const path = fileURLToPath(program.entry);
    if (process.versions.deno !== undefined) return [process.execPath, "run", "-A", path, ...args];
    // execArgv carries the TypeScript loader we were started with; from dist it is empty.
    return [process.execPath, ...withoutVersionGuard(process.execArgv), path, ...args];
  }
  const graceSeconds = String(Math.ceil(graceMs / 1_000));
  return ["/bin/sh", "-c", GUARD, graceSeconds, program.command, ...args];
}

/** The guard of Node's version has a relative path, and has said yes to us already. */
function withoutVersionGuard(execArgv: readonly string[]): string[] {
  const at = execArgv.findIndex((word) => word.endsWith("/node-version.cjs"));
  return execArgv.filter((_, i) => at === -1 || (i !== at && i !== at - 1));
}

/** Sends to a process, or with a negative id to its whole group; one that has just ended is no error. */
export function signalProcess(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/**
 * Runs "$@", passes SIGTERM and SIGINT on, exits with its code, and ends it when stdin ends, which is when the
 * supervisor is gone: with SIGTERM, and after $0 seconds with SIGKILL. What the shell itself has to say goes nowhere.
 */
const GUARD = `
exec 3<&0 </dev/null 4>&2 2>/dev/null
"$@" 2>&4 3<&- 4>&- &
exec 4>&-
child=$!
trap 'kill -TERM $child' TERM
trap 'kill -INT $child' INT
(
  trap - TERM INT
  while read -r ignored; do :; done
  kill -TERM $child
  left=$0
  while [ $left -gt 0 ] && kill -0 $child; do sleep 1; left=$((left - 1)); done
  kill -KILL $child
) <&3 >/dev/null &
watcher=$!
exec 3<&-
while :; do
  wait $child
  code=$?
  kill -0 $child || break
done
# A signal that came while the child ended hides its code behind our own: some shells still know it.
wait $child
again=$?
[ $again -ne 127 ] && code=$again
kill -KILL $watcher
exit $code
`;
