import type { Log } from "../../services/shared/host/log.ts";
import type { Clock } from "../clock.ts";
import type { Ledger } from "./ledger.ts";
import type { Locks } from "./locks.ts";
import type { PaymentMetrics } from "./observe.ts";
import type { Settlement } from "./settlement.ts";

export interface JanitorDeps {
  readonly ledger: Ledger;
  readonly locks: Locks;
  readonly settlement: Pick<Settlement, "resolve">;
  readonly metrics: PaymentMetrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly everyMs?: number;
}

export interface Janitor {
  start(): void;
  /** Resolves when a round that has begun is over. */
  stop(): Promise<void>;
}

/** A payment this young is most likely being settled just now. */
const MIN_AGE_MS = 30_000;
const BATCH = 100;
const VOID_KEPT_MS = 30 * 24 * 3_600_000;

/**
 * Finds out what has become of payments whose end nobody saw (a crash, an outage): what operators read is then true,
 * and a client that comes back need not wait for it. Drops what is no longer needed.
 */
export function createJanitor(deps: JanitorDeps): Janitor {
  const { ledger, locks, settlement, metrics, clock, log, everyMs = 30_000 } = deps;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  let isStopped = false;

  const resolve = async (key: string): Promise<boolean> => {
    const lock = await locks.acquire(key, { waitMs: 0 });
    if (lock === undefined) return false;
    try {
      const record = await ledger.find(key);
      return record?.state === "open" && (await settlement.resolve(record)).state === "open";
    } finally {
      await lock.release();
    }
  };

  const clean = async (): Promise<void> => {
    const nowMs = clock.nowMs();
    let open = 0;
    let failure: unknown;
    for (const { key } of await ledger.findOpen(nowMs - MIN_AGE_MS, BATCH)) {
      if (isStopped) return;
      try {
        if (await resolve(key)) open += 1;
      } catch (error) {
        // One that cannot be looked up holds up none of the others.
        failure ??= error;
        open += 1;
      }
    }
    metrics.setOpen(open);
    await ledger.clean({ voidBeforeMs: nowMs - VOID_KEPT_MS });
    if (failure !== undefined) throw failure;
  };

  const repeat = (): void => {
    round = clean().catch((err: unknown) => log.warn({ err }, "open payments cannot be looked after"));
    void round.then(() => {
      if (!isStopped) timer = setTimeout(repeat, everyMs);
    });
  };

  return {
    start: repeat,
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}
