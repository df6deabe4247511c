import { LRUCache } from "lru-cache";
import { ServiceError } from "../../../services/shared/errors.ts";
import type { Clock } from "../../request/clock.ts";
import type { KeyRecord } from "./key-record.ts";
import type { KeyDirectory } from "./key-store.ts";

export interface KeyLookupOptions {
  readonly directory: KeyDirectory;
  readonly clock: Clock;
  /** Called once per failed look-up. */
  readonly onStoreFailure?: (error: unknown) => void;
  /** Age up to which a found or missing key is not looked up again. A revocation takes effect within this time. */
  readonly freshMs?: number;
  /** Age up to which a found key stays valid while the store is unreachable. */
  readonly graceMs?: number;
  readonly lookupTimeoutMs?: number;
  /** No look-ups for this long after a failure, so that an outage does not cost every client a timeout. */
  readonly pauseMs?: number;
  readonly maxEntries?: number;
}

export interface KeyLookup {
  /** `beforeQuery` is awaited before a store look-up; rejects to refuse the request. */
  (hash: string, beforeQuery?: () => Promise<void>): Promise<KeyRecord | undefined>;
  /** A key that is fresh in the cache, without waiting. */
  fresh(hash: string): KeyRecord | undefined;
  /** A key was created or changed: drops its cache entry and ignores look-ups in flight. */
  forget(hash: string): void;
  /** Change messages may have been missed: looks every key up again; cached keys stay valid while the store is unreachable. */
  forgetAll(): void;
}

interface CacheEntry<T> {
  readonly value: T;
  /** When the look-up started, not when it ended: a key revoked in between must not gain time. */
  readonly queriedAtMs: number;
  readonly generation: number;
}

/**
 * Finds keys by hash through a cache of found keys and one of missing keys. Two caches, so that a flood of invented keys
 * cannot evict real ones. Concurrent requests for one key share one look-up.
 * Throws `unavailable` if the store is unreachable and the key is not cached.
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
  const found = new LRUCache<string, CacheEntry<KeyRecord>>({ max: maxEntries });
  const missing = new LRUCache<string, CacheEntry<true>>({ max: maxEntries });
  const inFlight = new Map<string, Promise<KeyRecord | undefined>>();
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  /** Entries of an earlier generation are not fresh. */
  let generation = 0;
  /** Counts change messages: a look-up that one overtook is not cached. */
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
    const known = found.peek(hash);
    if (known && isFresh(known, nowMs)) return known.value;
    const absent = missing.peek(hash);
    if (absent && isFresh(absent, nowMs)) return undefined;

    let pending = inFlight.get(hash);
    if (!pending) {
      // A known key is looked up without this check, whatever else comes from the same address.
      const admission = known ? undefined : beforeQuery?.();
      const started = (admission === undefined ? query(hash) : admission.then(() => query(hash))).finally(
        () => {
          if (inFlight.get(hash) === started) inFlight.delete(hash);
        },
      );
      inFlight.set(hash, started);
      pending = started;
    }
    try {
      return await pending;
    } catch (error) {
      if (known && found.peek(hash) === known && nowMs - known.queriedAtMs < graceMs) return known.value;
      throw error;
    }
  };

  return Object.assign(lookup, {
    fresh(hash: string) {
      const known = found.peek(hash);
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
  return new ServiceError("unavailable", "The key store is unreachable: the key could not be checked.", {
    cause,
    retryAfterSeconds: 2,
  });
}

function withTimeout<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`No response within ${timeoutMs} ms`)), timeoutMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
