import { KEPT_HEADERS, type StoredBlock } from "../../../shared/evm/finality/fork.ts";
import type { BlockHeader, EvmSource } from "../../../shared/evm/port.ts";
import { readBackfill } from "./backfill.ts";
import type { BlockBatch } from "./block-batch.ts";
import type { Fetcher } from "./fetcher.ts";

/** Blocks a step behind the head. */
export const TAIL_BLOCKS = 64;

type BlockId = Pick<StoredBlock, "number" | "hash">;

/** What batches are fetched with. */
interface FetchContext {
  readonly source: EvmSource;
  readonly fetcher: Fetcher;
  readonly signal: AbortSignal;
}

export interface CatchUpStep {
  readonly batch: BlockBatch;
  /** The chain's head as last seen. */
  readonly head: number;
  /** Where the backfill ends; absent after it. */
  readonly to?: number;
}

/**
 * From a block far behind the head up to it: blocks as a backfill, the last ones with their headers.
 * @param context.heads the source that is asked for the head, which moves meanwhile
 */
export async function* readUpTo(
  { last: from, head }: { last: BlockId; head: BlockHeader },
  context: FetchContext & { heads: Pick<EvmSource, "head"> },
): AsyncGenerator<CatchUpStep> {
  let last = from;
  let top = head.number;
  while (top - last.number > KEPT_HEADERS) {
    const to = top - KEPT_HEADERS;
    for await (const batch of readBackfill({ ...context, from: last.number + 1, to })) {
      last = batch.last;
      yield { batch, head: top, to };
    }
    if (context.signal.aborted) return;
    // The chain has grown meanwhile.
    top = (await context.heads.head()).number;
  }
  for await (const batch of readTail(last, { ...context, to: top })) yield { batch, head: top };
}

/** The blocks after `last` up to `to`, each batch fetched while the one before it is written. */
export async function* readTail(
  last: BlockId,
  { to, fetcher, signal }: Pick<FetchContext, "fetcher" | "signal"> & { to: number },
): AsyncGenerator<BlockBatch> {
  const readAfter = ({ number, hash }: BlockId) => {
    if (number >= to || signal.aborted) return undefined;
    const range = { fromBlock: number + 1, toBlock: Math.min(to, number + TAIL_BLOCKS) };
    const batch = fetcher.readTail(range, hash);
    // Awaited later, or never: until then a failure must not count as unhandled.
    batch.catch(() => {});
    return batch;
  };
  let next = readAfter(last);
  while (next !== undefined) {
    const batch = await next;
    next = readAfter(batch.last);
    yield batch;
  }
}
