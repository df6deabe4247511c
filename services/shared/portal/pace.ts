import type { Clock } from "../rpc-client/endpoint/clock.ts";

/** Spaces the requests of all streams to one portal. */
export interface Pace {
  /** Resolves when a request may be sent, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void>;
  /** No request before this time is over. */
  holdOff(ms: number): void;
}

/**
 * When the next request may be sent, in milliseconds of the wall clock: the only one that all threads share. Whoever asks the
 * same portal shares the memory, since the portal counts an address and not a thread.
 */
export type PaceMemory = BigInt64Array<SharedArrayBuffer>;

export function createPaceMemory(): PaceMemory {
  return new BigInt64Array(new SharedArrayBuffer(8));
}

/** How often a portal may be asked. */
export interface PaceOptions {
  /** Milliseconds between two requests. */
  readonly gapMs: number;
  /** Shared by all clients of a process that ask the same host. */
  readonly pace: PaceMemory;
}

/** The pace of each portal by its URL: one for each host, whatever its datasets. */
export type PaceOf = (url: string) => PaceOptions;

/** For all clients of a process. */
export function createPaces(requestsPerSecond: number): PaceOf {
  const paces = new Map<string, PaceOptions>();
  return (url) => {
    const { host } = new URL(url);
    const pace = paces.get(host) ?? {
      gapMs: Math.ceil(1_000 / requestsPerSecond),
      pace: createPaceMemory(),
    };
    paces.set(host, pace);
    return pace;
  };
}

/** Nobody holds off for longer (tries.ts): a time further ahead is from before the clock was set back. */
const LONGEST_MS = 90_000;

export function createPace(clock: Clock, gapMs: number, memory: PaceMemory = createPaceMemory()): Pace {
  let queue = Promise.resolve();

  /**
   * Lets nobody send for `ms` from now on, unless nobody may for more than `mostLeftMs` as it is. Returns for how long nobody
   * might; 0 or less = anybody might.
   */
  function hold(ms: number, mostLeftMs: number): number {
    for (;;) {
      const [now, freeAt] = [Math.round(clock.wallNow()), Atomics.load(memory, 0)];
      const ahead = Number(freeAt) - now;
      const leftMs = ahead > LONGEST_MS ? 0 : ahead;
      if (leftMs > mostLeftMs) return leftMs;
      if (Atomics.compareExchange(memory, 0, freeAt, BigInt(now + Math.round(ms))) === freeAt) return leftMs;
    }
  }

  async function wait(signal: AbortSignal): Promise<void> {
    // What is said while this one waits holds it, too.
    while (!signal.aborted) {
      const leftMs = hold(gapMs, 0);
      if (leftMs <= 0) return;
      await clock.sleep(leftMs, signal);
    }
  }

  return {
    next(signal) {
      const turn = queue.then(() => wait(signal));
      queue = turn;
      return turn;
    },
    holdOff(ms) {
      hold(ms, ms);
    },
  };
}
