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
  /** Least recently used first: a Map keeps the order of insertion. */
  const entries = new Map<string, Entry>();
  const sets = new RecentSets(now);
  let bytes = 0;
  let closed = false;

  const drop = (key: string): void => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    bytes -= entry.bytes;
  };
  const read = (key: string): string | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAtMs <= now()) {
      drop(key);
      return undefined;
    }
    entries.delete(key);
    entries.set(key, entry);
    return entry.value;
  };
  const store = (key: string, value: string, ttlMs: number): void => {
    drop(key);
    const size = bytesOf(key, value);
    if (closed || !(ttlMs > 0) || size > maxBytes) return;
    entries.set(key, { value, bytes: size, expiresAtMs: now() + ttlMs });
    bytes += size;
    for (const oldest of entries.keys()) {
      if (bytes <= maxBytes && entries.size <= maxEntries) break;
      drop(oldest);
    }
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
      for (const key of keys) drop(key);
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
      bytes = 0;
    },
  };
}

/** At most two bytes a character, plus the overhead of a Map entry. */
function bytesOf(key: string, value: string): number {
  return 2 * (key.length + value.length) + 100;
}
