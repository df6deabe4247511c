import { setImmediate as nextTurn } from "node:timers/promises";
import { finalBlocks } from "../../../shared/evm/finality/finality.ts";
import { MEDIAN_WINDOW_SECONDS } from "../../../shared/pricing/median.ts";
import { DAY, startOf } from "../../metrics/bucket.ts";
import { type CheckpointRow, poolUsers } from "../../store/collections.ts";
import { lastEventBlock } from "../../store/queries.ts";
import { nextDayBlocks } from "./days.ts";
import { keepTvls } from "./keep-tvls.ts";
import { mark, openRetention } from "./marks.ts";
import { type DayBlocks, RAW_COLLECTIONS, type RawCollection } from "./raw-collections.ts";
import { removeTimed, TIMED_ROWS } from "./remove-buckets.ts";
import { type RemoveDeps, removeRaw } from "./remove-raw.ts";
import { removeUsers, userBound } from "./remove-users.ts";

/** Rows of one write: some 10 ms of SQLite (`npm run bench:retention`). */
const ROWS_AT_ONCE = 300;
/** Time between two batches at the head. */
const BUDGET_MS = 40;
/** Far behind the head rows come faster: so many are removed for each that was written. */
const REMOVED_A_WRITTEN_ROW = 2;
/**
 * Between two looks for something to do, in seconds of the chain; and far behind the head, where a look waits for the write
 * that is under way, hours are seconds, and what falls due does so by days.
 */
const LOOK_SECONDS = 600;
const BACKFILL_LOOK_SECONDS = 21_600;

export interface RetentionDeps extends Pick<RemoveDeps, "store" | "guard" | "chainId"> {
  /** UTC days of rows that are kept beside the open one; 0 = all for ever. */
  readonly rawDays: number;
  /** Keeps a day's rows before they go; yields the rows of each part. A failure stops removing until the next look. */
  readonly archive?: (day: ArchivedDay) => AsyncGenerator<number, void, undefined>;
  readonly onArchiveFailure?: (error: unknown) => void;
  /** Everything that was due at this time of the chain is done. */
  readonly onFinished?: ((time: number) => void) | undefined;
  readonly rowsAtOnce?: number;
  readonly budgetMs?: number;
}

export interface ArchivedDay {
  readonly raw: RawCollection;
  readonly blocks: DayBlocks;
  /** Whether the index began within the day. */
  readonly isPartial: boolean;
}

/** What was written last. */
export interface WrittenBatch {
  readonly checkpoint: CheckpointRow;
  readonly events: number;
  /** Whether the index has come to the head. */
  readonly isFollowing: boolean;
}

/**
 * Removes old rows between batches, in small steps: raw rows by whole UTC days, oldest first, then buckets and users pool
 * by pool. Never touches what is not final, which a reorg may go back to. Stopped anywhere, it goes on from the last
 * finished day: each step can be repeated.
 */
export class Retention {
  readonly #deps: RetentionDeps;
  #steps: AsyncGenerator<number, void, undefined> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
  }

  /** Whether there is something to do, or to look for. */
  isDue({ checkpoint, isFollowing }: Pick<WrittenBatch, "checkpoint" | "isFollowing">): boolean {
    if (this.#deps.rawDays === 0) return false;
    const seconds = isFollowing ? LOOK_SECONDS : BACKFILL_LOOK_SECONDS;
    return this.#steps !== undefined || Math.abs(checkpoint.blockTime - this.#lookedAt) >= seconds;
  }

  async afterBatch(batch: WrittenBatch): Promise<void> {
    if (!this.isDue(batch)) return;
    const { checkpoint, events, isFollowing } = batch;
    const { budgetMs = BUDGET_MS } = this.#deps;
    if (this.#steps === undefined) {
      this.#lookedAt = checkpoint.blockTime;
      this.#steps = removeAll(this.#deps, checkpoint);
    }
    const until = performance.now() + budgetMs;
    let owed = isFollowing ? 0 : events * REMOVED_A_WRITTEN_ROW;
    do {
      // Reads and writes of SQLite never wait: without this a day's rows would hold up health checks and leases.
      await nextTurn();
      const { done, value } = await this.#next();
      if (done === true) return this.#deps.onFinished?.(checkpoint.blockTime);
      owed -= value;
    } while (owed > 0 || performance.now() < until);
  }

  /** One step. After a failure the next look begins anew. */
  async #next(): Promise<IteratorResult<number, void>> {
    const steps = this.#steps as AsyncGenerator<number, void, undefined>;
    this.#steps = undefined;
    const result = await steps.next();
    if (result.done !== true) this.#steps = steps;
    return result;
  }
}

/** All that is due at a checkpoint, in small steps; yields the number of rows that each removed or archived. */
async function* removeAll(
  deps: RetentionDeps,
  checkpoint: CheckpointRow,
): AsyncGenerator<number, void, undefined> {
  const { chainId, rawDays, store } = deps;
  const final = await store.get(finalBlocks, { chainId });
  if (final === undefined) return;
  const event = await lastEventBlock(store, {
    chainId,
    block: Math.min(final.number, checkpoint.blockNumber),
  });
  if (event === undefined) return;
  // A start goes on from the medians up to the last event, which a silent chain has long before its head.
  const last = event.time - MEDIAN_WINDOW_SECONDS;
  const boundOf = (seconds: number) =>
    Math.min(startOf(checkpoint.blockTime - seconds, DAY), startOf(last, DAY));
  const rawBound = boundOf(rawDays * DAY);
  yield* keepTvls(deps, { checkpoint, finalBlock: final.number, bound: rawBound });
  try {
    for (const raw of RAW_COLLECTIONS)
      yield* removeRawBefore(deps, {
        ...{ raw, checkpoint, finalBlock: final.number },
        bound: boundOf(Math.max(rawDays * DAY, raw.leastSeconds)),
      });
  } catch (error) {
    if (!(error instanceof ArchiveFailed)) throw error;
    deps.onArchiveFailure?.(error.cause);
  }
  for (const rows of TIMED_ROWS)
    yield* removeBefore(deps, {
      ...{ name: rows.name, checkpoint, bound: boundOf(rows.seconds) },
      remove: (due) => removeTimed(removeDeps(deps), { rows, ...due }),
    });
  yield* removeBefore(deps, {
    ...{ name: poolUsers.name, checkpoint, bound: userBound(boundOf) },
    remove: (due) => removeUsers(removeDeps(deps), due),
  });
}

/** A day that could not be archived: its rows stay. */
class ArchiveFailed extends Error {
  override readonly name = "ArchiveFailed";
}

async function* removeRawBefore(
  deps: RetentionDeps,
  at: { raw: RawCollection; checkpoint: CheckpointRow; finalBlock: number; bound: number },
): AsyncGenerator<number, void, undefined> {
  const { bound, checkpoint, raw } = at;
  const since = startOf(checkpoint.fromTime, DAY);
  const start = await openRetention(deps, { rows: raw.collection.name, checkpoint, since });
  let { goneBlock, goneTime } = start;
  while (goneTime < bound) {
    const blocks = await nextDayBlocks(deps.store, { ...at, clock: raw.clock, goneTime, goneBlock });
    const { toBlock: block, toTime: time } = blocks;
    yield 0;
    const isPartial = time - DAY < checkpoint.fromTime;
    if (deps.archive !== undefined) yield* archived(deps.archive({ raw, blocks, isPartial }));
    const announced = {
      ...{ ...start, goneTime, goneBlock },
      // Of older history that is removed anew, the later rows went before.
      ...{ time: Math.max(start.time, time), blockNumber: Math.max(start.blockNumber, block) },
    };
    await mark(deps, announced);
    yield* removeRaw(removeDeps(deps), { raw, blocks });
    await mark(deps, { ...announced, goneTime: time, goneBlock: block });
    [goneTime, goneBlock] = [time, block];
  }
}

async function* archived(
  steps: AsyncGenerator<number, void, undefined>,
): AsyncGenerator<number, void, undefined> {
  for (;;) {
    const result = await steps.next().catch((cause: unknown) => {
      throw new ArchiveFailed("Cannot archive a day", { cause });
    });
    if (result.done === true) return;
    yield result.value;
  }
}

/** What `remove` removes is gone up to the bound once it ends. */
async function* removeBefore(
  deps: RetentionDeps,
  {
    bound,
    checkpoint,
    name,
    remove,
  }: {
    name: string;
    checkpoint: CheckpointRow;
    bound: number;
    remove: (due: { before: number; goneTime: number }) => AsyncGenerator<number, void, undefined>;
  },
): AsyncGenerator<number, void, undefined> {
  const start = await openRetention(deps, { rows: name, checkpoint, since: 0 });
  if (start.goneTime >= bound || bound <= checkpoint.fromTime) return;
  const announced = { ...start, time: Math.max(start.time, bound) };
  await mark(deps, announced);
  yield* remove({ before: bound, goneTime: start.goneTime });
  await mark(deps, { ...announced, goneTime: bound });
}

function removeDeps({ rowsAtOnce = ROWS_AT_ONCE, ...deps }: RetentionDeps): RemoveDeps {
  return { ...deps, rowsAtOnce };
}
