import type { SolanaInstruction, SolanaTransaction } from "../chain/port.ts";

/** Instructions in the order of execution: each top-level one, then everything that it called. */
export interface FlatInstructions {
  readonly instructions: readonly SolanaInstruction[];
  /** Depth of calls: 1 = top level. 0 = a call whose depth the node does not tell (recorded before 2022). */
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
 * deeper. Where depths are not told, what follows a top-level instruction is all its own; what follows a call is its
 * own up to the next call that `isOther` says to stand for itself. Calls of a router beyond the last exchange then
 * count as the exchange's: they move tokens of the router's and the user's accounts, not of the pool's vaults.
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
