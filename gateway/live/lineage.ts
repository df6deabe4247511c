import { type BlockRef, type LiveHead, SOLANA_CHAIN_ID } from "../../services/shared/grpc/types.ts";

/** `unknown`: it lies before the blocks that the head names, or was never stored by itself. */
export type Fate = "kept" | "taken_back" | "unknown";

/** What became of a block that was told, now that this is the head. */
export function fateOf({ block, hash }: BlockRef, head: LiveHead): Fate {
  if (block === head.block) return hash === head.hash ? "kept" : "taken_back";
  if (block > head.block) return "taken_back";
  const at = head.recent.findIndex((each) => each.block >= block);
  const found = head.recent[at];
  if (found?.block === block) return found.hash === hash ? "kept" : "taken_back";
  // Every slot with a block is stored, but not every EVM block of a long catch-up.
  const isBetween = at > 0 || (at === -1 && head.recent.length > 0);
  return isBetween && head.chainId === SOLANA_CHAIN_ID ? "taken_back" : "unknown";
}

export interface Fork {
  /** Told blocks that are no longer of the chain, the newest first. */
  readonly takenBack: readonly BlockRef[];
  /** The newest told block that still is; undefined where none is known to be. */
  readonly kept: BlockRef | undefined;
}

/** Undefined where the last told block is still of the chain. `told`: oldest first. */
export function findFork(told: readonly BlockRef[], head: LiveHead): Fork | undefined {
  const last = told.at(-1);
  if (last === undefined || fateOf(last, head) !== "taken_back") return undefined;
  const takenBack: BlockRef[] = [];
  for (let at = told.length - 1; at >= 0; at -= 1) {
    const each = told[at] as BlockRef;
    const fate = fateOf(each, head);
    if (fate === "kept") return { takenBack, kept: each };
    if (fate === "taken_back") takenBack.push({ block: each.block, hash: each.hash });
  }
  return { takenBack, kept: undefined };
}
