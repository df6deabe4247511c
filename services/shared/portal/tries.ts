import type { Clock } from "../rpc-client/endpoint/clock.ts";
import { PortalFailure } from "./failures.ts";
import type { Pace } from "./pace.ts";
import type { Passing } from "./verdict.ts";

type Again = Extract<Passing, { kind: "again" }>;

/** The longest pause between two tries. */
const LONGEST_PAUSE_MS = 20_000;
/** Who asks for a longer pause than this is not to be waited for. */
const LONGEST_RETRY_AFTER_MS = 60_000;
/** Answers in a row that the first block is not there yet: a minute with a portal that waits before it says so. */
const EMPTY_TRIES = 12;
const BROKEN = {
  kind: "again",
  tries: 6,
  retryAfterMs: undefined,
  pauseMs: 500,
  isLimit: false,
} as const;

/** Counts what failed since the last new block, and pauses before the next try. */
export interface Tries {
  succeed(): void;
  /** Throws PortalFailure after too many failures in a row. */
  passOver(verdict: Passing, signal: AbortSignal): Promise<void>;
  /** The same for a connection or a body that broke. */
  breakOff(reason: string, signal: AbortSignal): Promise<void>;
}

export function createTries({ clock, pace, host }: { clock: Clock; pace: Pace; host: string }): Tries {
  let failures = 0;
  let empty = 0;

  async function fail(verdict: Again, signal: AbortSignal): Promise<void> {
    failures += 1;
    const { reason, retryAfterMs, pauseMs, isLimit, tries } = verdict;
    if (failures >= tries)
      throw new PortalFailure("unavailable", `${host} failed ${failures} times in a row: ${reason}`);
    if (retryAfterMs !== undefined && retryAfterMs > LONGEST_RETRY_AFTER_MS)
      throw new PortalFailure("unavailable", `${host} wants ${retryAfterMs} ms of pause: ${reason}`);
    const ms = retryAfterMs ?? Math.min(LONGEST_PAUSE_MS, pauseMs * 2 ** (failures - 1));
    if (isLimit) pace.holdOff(ms);
    else await clock.sleep(ms, signal);
  }

  /** The portal itself has paused. */
  function countEmpty(): void {
    empty += 1;
    if (empty >= EMPTY_TRIES)
      throw new PortalFailure("unavailable", `${host} said ${empty} times that it has no block yet`);
  }

  return {
    async passOver(verdict, signal) {
      if (verdict.kind === "again") await fail(verdict, signal);
      else countEmpty();
    },
    breakOff: (reason, signal) => fail({ ...BROKEN, reason }, signal),
    succeed() {
      failures = 0;
      empty = 0;
    },
  };
}
