import { COMPUTE_BUDGET, SYSTEM_PROGRAM, VOTE_PROGRAM } from "./addresses.ts";
import type { Executed, Invocation } from "./execution.ts";

/** Programs that are part of the runtime do not log the compute units they used. */
const NATIVE = new Set([SYSTEM_PROGRAM, COMPUTE_BUDGET, VOTE_PROGRAM]);

/** Log lines as the runtime writes them. */
export function renderLogs({ instructions, failure }: Executed): string[] {
  const lines: string[] = [];
  for (const [i, invocation] of instructions.entries())
    render(invocation, { depth: 1, lines, code: i === failure?.index ? failure.error.code : undefined });
  return lines;
}

/** `code` of a failing instruction: the last thing it called failed too. */
function render(
  { program, body }: Invocation,
  { depth, lines, code }: { depth: number; lines: string[]; code: number | undefined },
): void {
  lines.push(`Program ${program} invoke [${depth}]`);
  for (const [i, item] of body.entries()) {
    if (typeof item === "string") lines.push(item);
    else render(item, { depth: depth + 1, lines, code: i === body.length - 1 ? code : undefined });
  }
  if (!NATIVE.has(program))
    lines.push(`Program ${program} consumed ${units(body)} of ${200_000 - 1_000 * depth} compute units`);
  lines.push(
    code === undefined
      ? `Program ${program} success`
      : `Program ${program} failed: custom program error: 0x${code.toString(16)}`,
  );
}

function units(body: Invocation["body"]): number {
  return 3_000 + 4_500 * body.length;
}
