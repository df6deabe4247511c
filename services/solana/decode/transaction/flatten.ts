import type { SolanaInstruction, SolanaTransaction } from "../../chain/port.ts";

/** Instructions in the order of execution: each top-level one, then everything that it called. */
export interface FlatInstructions {
  readonly instructions: readonly SolanaInstruction[];
  /** Depth of calls: 1 = top level. 0 = a call without a depth (recorded before 2022). */
  readonly stackHeights: readonly number[];
}

export function flatten(transaction: SolanaTransaction): FlatInstructions {
  const top = transaction.transaction.message.instructions;
  const groups = transaction.meta?.innerInstructions;
  const instructions: SolanaInstruction[] = [];
  const stackHeights: number[] = [];
  for (let index = 0; index < top.length; index++) {
    instructions.push(top[index] as SolanaInstruction);
    stackHeights.push(1);
    if (groups === undefined || groups === null) continue;
    for (const group of groups) {
      if (group.index !== index) continue;
      for (const called of group.instructions) {
        instructions.push(called);
        const height = called.stackHeight ?? 0;
        stackHeights.push(height > 1 ? height : 0);
      }
    }
  }
  return { instructions, stackHeights };
}

/**
 * The end (exclusive) of what an instruction called, directly or through others: all that follows until one that is not
 * deeper. Without depths, everything after a top-level instruction belongs to it; what follows a call belongs to it up to
 * the next call for which `isOther` returns true. Calls of a router beyond the last exchange then count as the
 * exchange's: they move tokens of the router's and the user's accounts, not of the pool's vaults.
 */
export function findScopeEnd(
  flat: FlatInstructions,
  at: number,
  isOther: (index: number) => boolean,
): number {
  const { stackHeights } = flat;
  const height = stackHeights[at] as number;
  let end = at + 1;
  while (end < stackHeights.length && stackHeights[end] !== 1) {
    const deeper = stackHeights[end] as number;
    if (deeper === 0 || height === 0 ? height !== 1 && isOther(end) : deeper <= height) break;
    end++;
  }
  return end;
}
