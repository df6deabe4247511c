import type { Clock } from "../rpc-client/endpoint/clock.ts";

/** Spaces the requests of all streams to one portal. */
export interface Pace {
  /** Resolves when a request may be sent, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void>;
  /** No request before this time is over. */
  holdOff(ms: number): void;
}

export function createPace(clock: Clock, gapMs: number): Pace {
  let freeAt = clock.now();
  let queue = Promise.resolve();

  async function wait(signal: AbortSignal): Promise<void> {
    // What is said while this one waits holds it, too.
    while (clock.now() < freeAt && !signal.aborted) await clock.sleep(freeAt - clock.now(), signal);
    if (!signal.aborted) freeAt = clock.now() + gapMs;
  }

  return {
    next(signal) {
      const turn = queue.then(() => wait(signal));
      queue = turn;
      return turn;
    },
    holdOff(ms) {
      freeAt = Math.max(freeAt, clock.now() + ms);
    },
  };
}
