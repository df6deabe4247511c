import { expectedFalsePositives } from "../bloom.ts";
import type { BlockHeader, LogFilter } from "../port.ts";

/** From here on a bloom is more likely than not to name one of the filter's topics by chance. */
const MUTE_BLOOM = 1;
/** Of the blocks whose bloom says nothing, those with this last digit of the hash are checked nevertheless: one in 16. */
const CHECKED_DIGIT = "0";

/**
 * The blocks worth checking (EvmSource.verifyEmpty) where their logs were read by the blocks' own hashes, so that no
 * node answered for another block. A full bloom suspects every silent block, and each check costs all its receipts: of
 * those a fixed share is checked, chosen by the hash.
 */
export function listTellingBlocks<H extends BlockHeader>(headers: readonly H[], { topics }: LogFilter): H[] {
  return headers.filter(
    ({ logsBloom, hash }) =>
      expectedFalsePositives(logsBloom, topics.length) < MUTE_BLOOM || hash.endsWith(CHECKED_DIGIT),
  );
}
