import type { Random } from "../random.ts";
import type { PortalBlock } from "./block.ts";
import type { ReadQuery } from "./dialect.ts";
import type { ToldLie } from "./lies.ts";
import type { Selection } from "./select.ts";

export interface CoverOptions {
  readonly query: ReadQuery;
  /** Blocks of one chunk: each is answered by itself, with its own first and last line. */
  readonly chunkBlocks: number;
  /** Weight after which a chunk ends early, as a portal weighs. */
  readonly chunkWeight: number;
  /** Chunks of one answer. */
  readonly maxChunks: number;
  /** Probability that a block without a match has a line all the same. */
  readonly strayHeaders: number;
  readonly lies: readonly ToldLie[];
  readonly nullFields: boolean;
  readonly random: Random;
}

/**
 * The lines of an answer over blocks: those with a match, and always the first and the last block of what is covered
 * and of each chunk in it. So the last line is where the next request goes on, however early the answer ends.
 */
export async function* coverBlocks(
  blocks: AsyncIterable<PortalBlock>,
  options: CoverOptions,
): AsyncGenerator<string> {
  const { query, chunkBlocks, chunkWeight, maxChunks, strayHeaders, lies, nullFields, random } = options;
  let chunk = { count: 0, blocks: 0, weight: 0 };
  /** The latest block, where nothing asked for it: its line follows if it turns out to be the last. */
  let silent: Selection | undefined;
  for await (const own of blocks) {
    const block = lies.length === 0 ? own : query.tell(own, lies);
    if (block === null) continue;
    const selection = query.select(block, { nullFields });
    const isFirst = chunk.blocks === 0;
    chunk.blocks += 1;
    chunk.weight += selection.weight;
    const isLast = chunk.blocks >= chunkBlocks || chunk.weight >= chunkWeight;
    const isStray = random.next() < strayHeaders;
    silent = selection;
    if (query.includeAllBlocks || selection.isMatch || isFirst || isLast || isStray) {
      silent = undefined;
      yield selection.line();
    }
    if (!isLast) continue;
    chunk = { count: chunk.count + 1, blocks: 0, weight: 0 };
    if (chunk.count >= maxChunks) return;
  }
  if (silent !== undefined) yield silent.line();
}
