import type { Log } from "../../../services/shared/logging/log.ts";
import type { Clock } from "../../request/clock.ts";
import type { Ledger, OpenCursor } from "../ledger/ledger.ts";
import type { Locks } from "../ledger/locks.ts";
import type { PaymentRecord } from "../ledger/payment-record.ts";
import type { PaymentMetrics } from "../payment-metrics.ts";
import { type PaymentChain, STATES_PER_CALL } from "./chain.ts";
import { EXPIRED_UNUSED, type Settlement, toTransfer } from "./settlement.ts";

export interface JanitorDeps {
  readonly ledger: Ledger;
  readonly locks: Locks;
  readonly settlement: Pick<Settlement, "resolve">;
  readonly chain: Pick<PaymentChain, "readStates">;
  readonly metrics: PaymentMetrics;
  readonly clock: Clock;
  readonly log: Log;
  readonly everyMs?: number;
  /** RPC calls per round, about; the rest follows in the next round. */
  readonly maxCalls?: number;
}

export interface Janitor {
  start(): void;
  /** Resolves when the current round is over. */
  stop(): Promise<void>;
}

/** A payment this young is probably being settled right now. */
const MIN_AGE_MS = 30_000;
const EVERY_MS = 15_000;
/** After this another gateway takes over a round whose gateway died. */
const MAX_ROUND_MS = 60_000;
const VOID_KEPT_MS = 30 * 24 * 3_600_000;
const MAX_CALLS = 200;
const PAGE = 500;
const CALLS_PER_PAGE = 2 * Math.ceil(PAGE / STATES_PER_CALL);
/** Calls to find the transaction that used an authorization: its state, the head, logs, the receipt. */
const CALLS_PER_RESOLVE = 6;
const RESOLVES_AT_ONCE = 4;

/**
 * Resolves payments whose outcome no request saw (a crash, an outage): operators then read the truth, and a client that
 * comes back does not wait. Works through all open payments in order, as many per round as its calls allow; the next round
 * continues there, on any gateway of the ledger: one gateway does each round. Deletes what has expired.
 */
export function createJanitor(deps: JanitorDeps): Janitor {
  const { ledger, locks, settlement, chain, metrics, clock, log } = deps;
  const { everyMs = EVERY_MS, maxCalls = MAX_CALLS } = deps;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  let isStopped = false;

  /** Skips a payment that a request is handling. */
  const resolve = async ({ key }: PaymentRecord): Promise<void> => {
    const lock = await locks.acquire(key, { waitMs: 0 });
    if (lock === undefined) return;
    try {
      const record = await ledger.find(key);
      if (record?.state === "open") await settlement.resolve(record);
    } finally {
      await lock.release();
    }
  };

  /** Voids expired payments; returns those whose authorization is used on the chain. */
  const voidExpired = async (page: readonly PaymentRecord[]): Promise<PaymentRecord[]> => {
    const states = await chain.readStates(page.map(toTransfer));
    const used: PaymentRecord[] = [];
    for (const [place, record] of page.entries()) {
      const state = states[place];
      if (state?.isUsed === true) used.push(record);
      else if (state !== undefined && state.time > record.validBefore)
        await ledger.markVoid(record, EXPIRED_UNUSED);
    }
    return used;
  };

  /** A failed look-up stops no other; returns the first failure. */
  const resolveAll = async (used: readonly PaymentRecord[]): Promise<unknown> => {
    let failure: unknown;
    for (let at = 0; at < used.length && !isStopped; at += RESOLVES_AT_ONCE) {
      const outcomes = await Promise.allSettled(used.slice(at, at + RESOLVES_AT_ONCE).map(resolve));
      for (const outcome of outcomes) if (outcome.status === "rejected") failure ??= outcome.reason;
    }
    return failure;
  };

  /** Continues from the cursor; returns the new one, undefined after the last payment. */
  const resolveFrom = async (
    start: OpenCursor | undefined,
  ): Promise<{ cursor: OpenCursor | undefined; failure: unknown }> => {
    const beforeMs = clock.nowMs() - MIN_AGE_MS;
    let cursor = start;
    let failure: unknown;
    for (let callsLeft = maxCalls; callsLeft > 0 && !isStopped; callsLeft -= CALLS_PER_PAGE) {
      const page = await ledger.findOpen({ beforeMs, after: cursor, limit: PAGE });
      if (page.length === 0) return { cursor: undefined, failure };
      let done = page;
      try {
        const used = await voidExpired(page);
        const affordable = Math.max(1, Math.floor((callsLeft - CALLS_PER_PAGE) / CALLS_PER_RESOLVE));
        const now = used.slice(0, affordable);
        callsLeft -= now.length * CALLS_PER_RESOLVE;
        failure ??= await resolveAll(now);
        // The next round starts with the first payment that was left.
        const left = used[affordable];
        if (left !== undefined) done = page.slice(0, page.indexOf(left));
      } catch (error) {
        // Skipped: a page that no node responds to must not stop those after it.
        return { cursor: toCursor(page), failure: error };
      }
      cursor = toCursor(done);
      if (done.length === page.length && page.length < PAGE) return { cursor: undefined, failure };
    }
    return { cursor, failure };
  };

  const runRound = async (): Promise<void> => {
    const nowMs = clock.nowMs();
    const taken = await ledger.takeRound({ nowMs, untilMs: nowMs + MAX_ROUND_MS });
    if (taken !== undefined) {
      const { cursor, failure } = await resolveFrom(taken.cursor);
      await ledger.endRound(taken, { cursor, untilMs: clock.nowMs() + everyMs * 0.8 });
      await ledger.clean({ voidBeforeMs: nowMs - VOID_KEPT_MS });
      if (failure !== undefined) log.warn({ err: failure }, "open payments cannot be resolved");
    }
    metrics.setOpen(await ledger.countOpen(nowMs - MIN_AGE_MS));
  };

  const repeat = (): void => {
    round = runRound().catch((err: unknown) => log.warn({ err }, "the round over open payments failed"));
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

function toCursor(page: readonly PaymentRecord[]): OpenCursor | undefined {
  const last = page.at(-1);
  return last && { createdAt: last.createdAt, key: last.key };
}
