import { ServiceError } from "../../../services/shared/errors.ts";
import { BoundedMap } from "../../bounded-map.ts";
import type { Clock } from "../../request/clock.ts";
import type { KeyRecord } from "./key-record.ts";
import type { KeyDirectory } from "./key-store.ts";

export interface KeyLookupOptions {
  readonly directory: KeyDirectory;
  readonly clock: Clock;
  /** Called once for every question the store failed to answer. */
  readonly onStoreFailure?: (error: unknown) => void;
  /** Age up to which a found or a missing key is not asked for again. Revocation takes at most this long. */
  readonly freshMs?: number;
  /** Age up to which a found key goes on while the store cannot be asked. */
  readonly graceMs?: number;
  readonly lookupTimeoutMs?: number;
  /** After a failure the store is left alone for this long, so that an outage costs no client a timeout. */
  readonly pauseMs?: number;
  readonly maxEntries?: number;
}

export interface KeyLookup {
  /** `beforeQuery` is waited for where the store would have to be asked; what it throws is the answer. */
  (hash: string, beforeQuery?: () => Promise<void>): Promise<KeyRecord | undefined>;
  /** A key that is remembered and need not be asked for, at once. */
  fresh(hash: string): KeyRecord | undefined;
  /** A key has been made or changed: what is remembered of it, and answers still under way, count no more. */
  forget(hash: string): void;
  /** Word of changes may have been missed: everything is looked up again; what is remembered goes on while it cannot. */
  forgetAll(): void;
}

interface CacheEntry<T> {
  readonly value: T;
  /** When the store was asked, not when it answered: a key revoked in between must not gain time. */
  readonly queriedAtMs: number;
  readonly generation: number;
}

/**
 * Finds keys by hash through a cache of found and one of missing keys. They are apart so that a flood of invented keys
 * cannot push out the real ones. Concurrent questions for one key share one look-up.
 * Throws `unavailable` when the store cannot be asked and the key is not remembered.
 */
export function createKeyLookup(options: KeyLookupOptions): KeyLookup {
  const { directory, clock, onStoreFailure } = options;
  const {
    freshMs = 5_000,
    graceMs = 60_000,
    lookupTimeoutMs = 2_000,
    pauseMs = 1_000,
    maxEntries = 10_000,
  } = options;
  const found = new BoundedMap<CacheEntry<KeyRecord>>(maxEntries);
  const missing = new BoundedMap<CacheEntry<true>>(maxEntries);
  const inFlight = new Map<string, Promise<KeyRecord | undefined>>();
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  /** What was asked in an earlier one is not fresh. */
  let generation = 0;
  /** Counts changes heard of: an answer from before one is not remembered. */
  let changes = 0;

  const query = async (hash: string): Promise<KeyRecord | undefined> => {
    const queriedAtMs = clock.monotonicMs();
    if (queriedAtMs < pausedUntilMs) throw keyStoreUnavailable();
    const changesBefore = changes;
    try {
      const record = await withTimeout(directory.findByHash(hash), lookupTimeoutMs);
      if (changes !== changesBefore) return record;
      if (record) {
        found.set(hash, { value: record, queriedAtMs, generation });
        missing.delete(hash);
      } else {
        missing.set(hash, { value: true, queriedAtMs, generation });
        found.delete(hash);
      }
      return record;
    } catch (error) {
      pausedUntilMs = clock.monotonicMs() + pauseMs;
      onStoreFailure?.(error);
      throw keyStoreUnavailable(error);
    }
  };

  const isFresh = (known: CacheEntry<unknown>, nowMs: number): boolean =>
    nowMs - known.queriedAtMs < freshMs && known.generation === generation;

  const lookup = async (hash: string, beforeQuery?: () => Promise<void>) => {
    const nowMs = clock.monotonicMs();
    const known = found.get(hash);
    if (known && isFresh(known, nowMs)) return known.value;
    const absent = missing.get(hash);
    if (absent && isFresh(absent, nowMs)) return undefined;

    let question = inFlight.get(hash);
    if (!question) {
      // A key that was known goes on being looked up, whatever else comes from the same address.
      const turn = known ? undefined : beforeQuery?.();
      const asked = (turn === undefined ? query(hash) : turn.then(() => query(hash))).finally(() => {
        if (inFlight.get(hash) === asked) inFlight.delete(hash);
      });
      inFlight.set(hash, asked);
      question = asked;
    }
    try {
      return await question;
    } catch (error) {
      if (known && found.get(hash) === known && nowMs - known.queriedAtMs < graceMs) return known.value;
      throw error;
    }
  };

  return Object.assign(lookup, {
    fresh(hash: string) {
      const known = found.get(hash);
      return known && isFresh(known, clock.monotonicMs()) ? known.value : undefined;
    },
    forget(hash: string) {
      changes += 1;
      found.delete(hash);
      missing.delete(hash);
      inFlight.delete(hash);
    },
    forgetAll() {
      changes += 1;
      generation += 1;
      inFlight.clear();
    },
  });
}

function keyStoreUnavailable(cause?: unknown): ServiceError {
  return new ServiceError("unavailable", "The key store cannot be reached; the key could not be checked.", {
    cause,
    retryAfterSeconds: 2,
  });
}

function withTimeout<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`No answer within ${timeoutMs} ms`)), timeoutMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
