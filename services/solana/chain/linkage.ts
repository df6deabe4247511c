import type { BlockLink } from "./port.ts";

/** Something that does not fit between a block and the one before it. */
export interface Inconsistency {
  /** Slots to read again, ascending: those on both sides, and the one that is missing between them. */
  readonly slots: readonly number[];
  readonly reason: string;
}

/**
 * What keeps a run of blocks from being the whole chain in [fromSlot, …]: `links` ascending, the last one at or beyond
 * the end of the range. Each block must name the one before it as its parent, by slot and by hash: whatever lies between
 * them has then been skipped.
 */
export function findInconsistencies(links: readonly BlockLink[], fromSlot: number): Inconsistency[] {
  const doubts: Inconsistency[] = [];
  let before: BlockLink | undefined;
  for (const block of links) {
    const doubt = findInconsistency(before, block, fromSlot);
    if (doubt !== undefined) doubts.push(doubt);
    before = block;
  }
  return doubts;
}

function findInconsistency(
  before: BlockLink | undefined,
  block: BlockLink,
  fromSlot: number,
): Inconsistency | undefined {
  const { slot, parentSlot, previousBlockhash } = block;
  const previous = before?.slot ?? fromSlot - 1;
  if (parentSlot > previous) {
    const slots = before === undefined ? [parentSlot, slot] : [before.slot, parentSlot, slot];
    return { slots, reason: `slot ${parentSlot} has no block, and slot ${slot} names it as its parent` };
  }
  if (before === undefined) return undefined;
  if (parentSlot < before.slot)
    return {
      slots: [before.slot, slot],
      reason: `slot ${slot} names slot ${parentSlot} as its parent, past the block in slot ${before.slot}`,
    };
  if (previousBlockhash !== before.blockhash)
    return { slots: [before.slot, slot], reason: `slot ${slot} names another block in slot ${before.slot}` };
  return undefined;
}
