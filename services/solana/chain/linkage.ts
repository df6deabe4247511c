import type { BlockLink } from "./port.ts";

/** A block and the one before it that do not fit together. */
export interface Inconsistency {
  /** Slots to read again, ascending: those on both sides, and the one that is missing between them. */
  readonly slots: readonly number[];
  readonly reason: string;
}

/**
 * Why consecutive blocks are not the whole chain in [fromSlot, …]; `links` ascending, the last one at or beyond the end
 * of the range. Each block must name the one before it as its parent, by slot and by hash: all slots between them were
 * then skipped.
 */
export function findInconsistencies(links: readonly BlockLink[], fromSlot: number): Inconsistency[] {
  const inconsistencies: Inconsistency[] = [];
  let before: BlockLink | undefined;
  for (const block of links) {
    const inconsistency = findInconsistency(before, block, fromSlot);
    if (inconsistency !== undefined) inconsistencies.push(inconsistency);
    before = block;
  }
  return inconsistencies;
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
