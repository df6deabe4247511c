import type { BlockBatch } from "./block-batch.ts";

/**
 * A write touches some pages for each pool, however many events it has of it: over 10,000 pools, 10,000 events are
 * written at a third less CPU than four times 2,500. They are as much as is undone by a kill, and held twice in memory.
 */
export const MOST_EVENTS = 10_000;
/** So long at most a batch waits for others: where reading is the slower part, writing need not be cheap. */
const WAIT_MS = 250;

/** Joins the batches of steps that follow on each other without headers, as those of a backfill do. */
export async function* joinSteps<S extends { readonly batch: BlockBatch }>(
  steps: AsyncIterable<S>,
  { mostEvents = MOST_EVENTS, waitMs = WAIT_MS }: { mostEvents?: number; waitMs?: number } = {},
): AsyncGenerator<S> {
  let joined: S | undefined;
  let since = 0;
  let failure: { readonly error: unknown } | undefined;
  const items = steps[Symbol.asyncIterator]();
  try {
    while (failure === undefined) {
      const next = await items.next().catch((error: unknown) => ({ error }));
      // What came before the error is written before it is thrown.
      if ("error" in next) failure = next;
      else if (next.done === true) break;
      else if (joined === undefined) [joined, since] = [next.value, performance.now()];
      else if (follows(joined.batch, next.value.batch))
        joined = { ...next.value, batch: joinBatches(joined.batch, next.value.batch) };
      else {
        yield joined;
        [joined, since] = [next.value, performance.now()];
      }
      if (joined === undefined) continue;
      const isFull = countEvents(joined.batch) >= mostEvents || performance.now() - since >= waitMs;
      if (!isFull && joined.batch.headers.length === 0) continue;
      yield joined;
      joined = undefined;
    }
    if (joined !== undefined) yield joined;
    if (failure !== undefined) throw failure.error;
  } finally {
    await items.return?.();
  }
}

function follows(batch: BlockBatch, next: BlockBatch): boolean {
  const isNext = next.parent.number === batch.last.number && next.parent.hash === batch.last.hash;
  return isNext && batch.headers.length === 0 && next.headers.length === 0;
}

function joinBatches(first: BlockBatch, second: BlockBatch): BlockBatch {
  return {
    parent: first.parent,
    last: second.last,
    created: [...first.created, ...second.created],
    gauges: [...first.gauges, ...second.gauges],
    answers: [...first.answers, ...second.answers],
    // The first block of each counts.
    unknownPools: new Map([...second.unknownPools, ...first.unknownPools]),
    blocks: [...first.blocks, ...second.blocks],
    headers: [],
  };
}

function countEvents({ blocks }: BlockBatch): number {
  return blocks.reduce((sum, { events }) => sum + events.length, 0);
}
