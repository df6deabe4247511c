import { LRUCache } from "lru-cache";
import type { Cache } from "./port.ts";
import { RecentSets } from "./recent-sets.ts";

export interface MemoryCacheOptions {
  /** Estimated bytes of keys and values; 64 MiB by default. */
  readonly maxBytes?: number;
  readonly maxEntries?: number;
  /** Milliseconds; performance.now by default, which no change of the system's clock moves. */
  readonly now?: () => number;
}

interface Entry {
  readonly value: string;
  readonly bytes: number;
  readonly expiresAtMs: number;
}

/** An LRU cache within bounds. Expired entries are removed when read or evicted. */
export function createMemoryCache(options: MemoryCacheOptions = {}): Cache {
  const { maxBytes = 64 * 1024 * 1024, maxEntries = 100_000, now = () => performance.now() } = options;
  const entries = new LRUCache<string, Entry>({
    max: maxEntries,
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => bytes,
  });
  const sets = new RecentSets(now);
  let closed = false;

  const read = (key: string): string | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAtMs > now()) return entry.value;
    entries.delete(key);
    return undefined;
  };
  const store = (key: string, value: string, ttlMs: number): void => {
    // Also removes the entry of a value that is too large.
    entries.delete(key);
    if (closed || !(ttlMs > 0)) return;
    entries.set(key, { value, bytes: bytesOf(key, value), expiresAtMs: now() + ttlMs });
  };

  return {
    engine: "memory",
    async get(key) {
      return read(key);
    },
    async getMany(keys) {
      return keys.map(read);
    },
    async set(key, value, { ttlMs }) {
      store(key, value, ttlMs);
    },
    async setMany(pairs, { ttlMs }) {
      for (const [key, value] of pairs) store(key, value, ttlMs);
    },
    async delete(keys) {
      for (const key of keys) entries.delete(key);
    },
    async touch(set, members, bounds) {
      if (!closed) sets.touch(set, members, bounds);
    },
    async recent(set, bounds) {
      return sets.recent(set, bounds);
    },
    healthy: () => !closed,
    async close() {
      closed = true;
      entries.clear();
      sets.clear();
    },
  };
}

/** At most two bytes a character, plus the overhead of an entry. */
function bytesOf(key: string, value: string): number {
  return 2 * (key.length + value.length) + 100;
}
