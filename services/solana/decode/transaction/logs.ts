import type { FlatInstructions } from "./flatten.ts";

const DATA = "Program data: ";
const RAY_LOG = "Program log: ray_log: ";

/** Base64 texts that programs logged, by the instruction that logged them. */
export interface LoggedData {
  readonly instructionIndex: number;
  readonly source: "log" | "ray_log";
  readonly text: string;
}

/**
 * Reads `Program data:` and `ray_log:` lines. The `invoke` lines give the instruction that a line belongs to: one for
 * each in the order of execution, except precompiles, which the runtime checks without a line. Nodes cut logs at 10 kB:
 * the rest is used as far as it goes.
 */
export function readLogs(
  lines: readonly string[],
  flat: FlatInstructions,
  programs: readonly string[],
): LoggedData[] {
  const logged: LoggedData[] = [];
  const running: number[] = [];
  let next = 0;
  for (const line of lines) {
    // A program's own text must not count as a line of the runtime.
    if (line.startsWith("Program log: ")) {
      if (line.startsWith(RAY_LOG))
        add(logged, running, { source: "ray_log", text: line.slice(RAY_LOG.length) });
    } else if (line.startsWith(DATA)) {
      add(logged, running, { source: "log", text: line.slice(DATA.length) });
    } else if (line.endsWith("]") && line.startsWith(" invoke [", line.indexOf(" ", 8))) {
      const at = findInvokedInstruction(line, next, { flat, programs });
      if (at === undefined) return logged;
      running.push(at);
      next = at + 1;
    } else if (line.endsWith(" success")) {
      running.pop();
    }
  }
  return logged;
}

function add(
  logged: LoggedData[],
  running: readonly number[],
  data: Omit<LoggedData, "instructionIndex">,
): void {
  const instructionIndex = running.at(-1);
  if (instructionIndex !== undefined) logged.push({ instructionIndex, ...data });
}

/** `Program <id> invoke [<depth>]`. */
function findInvokedInstruction(
  line: string,
  from: number,
  { flat, programs }: { flat: FlatInstructions; programs: readonly string[] },
): number | undefined {
  const depth = Number(line.slice(line.lastIndexOf("[") + 1, -1));
  for (let at = from; at < programs.length; at++) {
    const height = flat.stackHeights[at] as number;
    if (height !== depth && height !== 0) continue;
    if (line.startsWith(programs[at] as string, 8)) return at;
  }
  return undefined;
}
