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
  /** RPC calls a round, about; what is left over comes in the next one. */
  readonly maxCalls?: number;
}

export interface Janitor {
  start(): void;
  /** Resolves when a round that has begun is over. */
  stop(): Promise<void>;
}

/** A payment this young is most likely being settled just now. */
const MIN_AGE_MS = 30_000;
const EVERY_MS = 15_000;
/** After this another gateway takes over from one that has died in its round. */
const MAX_ROUND_MS = 60_000;
const VOID_KEPT_MS = 30 * 24 * 3_600_000;
const MAX_CALLS = 200;
const PAGE = 500;
const CALLS_PER_PAGE = 2 * Math.ceil(PAGE / STATES_PER_CALL);
/** Of finding the transaction that used an authorization up: its state, the head, logs, the receipt. */
const CALLS_PER_RESOLVE = 6;
const RESOLVES_AT_ONCE = 4;

/**
 * Finds out what has become of payments whose end nobody saw (a crash, an outage): what operators read is then true,
 * and a client that comes back need not wait for it. Works through all open payments in turn, as many a round as its
 * calls allow, and goes on from there in the next round, whichever gateway of the ledger does that: one of them does
 * each. Drops what is no longer needed.
 */
export function createJanitor(deps: JanitorDeps): Janitor {
  const { ledger, locks, settlement, chain, metrics, clock, log } = deps;
  const { everyMs = EVERY_MS, maxCalls = MAX_CALLS } = deps;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  let isStopped = false;

  /** Unless a request is dealing with it. */
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

  /** Voids what has expired; returns what the chain says is used up. */
  const sift = async (page: readonly PaymentRecord[]): Promise<PaymentRecord[]> => {
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

  /** One that cannot be looked up holds up none of the others; the first failure is returned. */
  const resolveAll = async (used: readonly PaymentRecord[]): Promise<unknown> => {
    let failure: unknown;
    for (let at = 0; at < used.length && !isStopped; at += RESOLVES_AT_ONCE) {
      const outcomes = await Promise.allSettled(used.slice(at, at + RESOLVES_AT_ONCE).map(resolve));
      for (const outcome of outcomes) if (outcome.status === "rejected") failure ??= outcome.reason;
    }
    return failure;
  };

  /** Goes on from the cursor; returns the new one, undefined behind the last payment. */
  const workFrom = async (
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
        const used = await sift(page);
        const affordable = Math.max(1, Math.floor((callsLeft - CALLS_PER_PAGE) / CALLS_PER_RESOLVE));
        const now = used.slice(0, affordable);
        callsLeft -= now.length * CALLS_PER_RESOLVE;
        failure ??= await resolveAll(now);
        // The next round begins with the first one that was left.
        const left = used[affordable];
        if (left !== undefined) done = page.slice(0, page.indexOf(left));
      } catch (error) {
        // Passed over: a page that no node answers for must not hold up those behind it.
        return { cursor: toCursor(page), failure: error };
      }
      cursor = toCursor(done);
      if (done.length === page.length && page.length < PAGE) return { cursor: undefined, failure };
    }
    return { cursor, failure };
  };

  const clean = async (): Promise<void> => {
    const nowMs = clock.nowMs();
    const taken = await ledger.takeRound({ nowMs, untilMs: nowMs + MAX_ROUND_MS });
    if (taken !== undefined) {
      const { cursor, failure } = await workFrom(taken.cursor);
      await ledger.endRound(taken, { cursor, untilMs: clock.nowMs() + everyMs * 0.8 });
      await ledger.clean({ voidBeforeMs: nowMs - VOID_KEPT_MS });
      if (failure !== undefined) log.warn({ err: failure }, "open payments cannot be looked up");
    }
    metrics.setOpen(await ledger.countOpen(nowMs - MIN_AGE_MS));
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

function toCursor(page: readonly PaymentRecord[]): OpenCursor | undefined {
  const last = page.at(-1);
  return last && { createdAt: last.createdAt, key: last.key };
}
