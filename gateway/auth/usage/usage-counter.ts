import { randomBytes } from "node:crypto";
import type { Clock } from "../../request/clock.ts";
import { toUsageRow, UsageCounts, type UsageEvent } from "./usage-counts.ts";
import { DAY_MS, type UsageRow } from "./usage-record.ts";
import type { UsageStore } from "./usage-store.ts";

export interface UsageCounterOptions {
  /** The store, which may be unreachable: unwritten counts stay in memory. */
  readonly store: () => Promise<Pick<UsageStore, "save" | "removeBefore">>;
  readonly clock: Clock;
  /** Time between two writes; a killed process loses at most the counts of this time. */
  readonly flushMs?: number;
  /** How long usage is stored. */
  readonly keepDays?: number;
  /** Called for every failed write. */
  readonly onFailure?: (error: unknown) => void;
}

export interface UsageCounter {
  count(event: UsageEvent): void;
  /** Returns the stored rows of a key with this process's own rows replaced by its current counts. */
  mergeCurrent(key: string, stored: readonly UsageRow[]): UsageRow[];
  start(): void;
  /** Writes the counts; rejects if the store is unreachable, and keeps them. */
  flush(): Promise<void>;
  /** Writes a last time, then stops. */
  stop(): Promise<void>;
}

const USAGE_FLUSH_MS = 3_000;
const USAGE_KEEP_DAYS = 400;

/** Counts requests in memory, some tens of nanoseconds each, and writes changed counts every few seconds. */
export function createUsageCounter(options: UsageCounterOptions): UsageCounter {
  const {
    store,
    clock,
    flushMs = USAGE_FLUSH_MS,
    keepDays = USAGE_KEEP_DAYS,
    onFailure = () => {},
  } = options;
  const gateway = randomBytes(8).toString("hex");
  const counts = new UsageCounts();
  let flushing: Promise<void> | undefined;
  /** The day on which old usage was removed last. */
  let cleanedDay: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const write = async (): Promise<void> => {
    const day = Math.floor(clock.nowMs() / DAY_MS);
    const batch = counts.drainChanged();
    if (batch.length > 0) {
      try {
        await (await store()).save(batch.map((count) => toUsageRow(count, gateway)));
      } catch (error) {
        counts.restoreChanged(batch);
        throw error;
      }
    }
    // Yesterday stays: if the clock goes back over midnight, its counts must continue, not restart.
    counts.forgetBefore(day - 1);
    if (cleanedDay === day) return;
    await (await store()).removeBefore(day - keepDays);
    cleanedDay = day;
  };

  const flush = async (): Promise<void> => {
    // Two concurrent writes could end in the wrong order.
    while (flushing !== undefined) await flushing.catch(() => {});
    flushing = write().finally(() => {
      flushing = undefined;
    });
    await flushing;
  };

  const schedule = (): void => {
    timer = setTimeout(() => {
      void flush()
        .catch(onFailure)
        .then(() => {
          if (!isStopped) schedule();
        });
    }, flushMs);
    timer.unref();
  };

  return {
    count: (event) => counts.add(event, clock.nowMs()),

    mergeCurrent(key, stored) {
      const others = stored.filter((row) => row.gateway !== gateway || !counts.has(key, row.day));
      return [...others, ...counts.findByKey(key).map((count) => toUsageRow(count, gateway))];
    },

    start: schedule,
    flush,

    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await flush();
    },
  };
}
