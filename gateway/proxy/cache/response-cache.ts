import type { EncodableResponse } from "../delivery/encodable-response.ts";
import { hashOf } from "./fixed-hash-map.ts";
import type { Freshness } from "./freshness.ts";

/** A cached table. */
export interface CacheEntry {
  readonly key: string;
  response: EncodableResponse;
  freshness: Freshness;
}

export interface ResponseCache {
  /** Fresh or stale: a stale entry is fresh again when its service returns 304. */
  get(key: string): CacheEntry | undefined;
  /**
   * Stores a response in place of the one under its key. A full cache does not admit a key that was not requested
   * lately, unless `isAwaited`: other clients wait for it.
   */
  put(entry: CacheEntry, isAwaited?: boolean): void;
  readonly size: number;
  readonly bytes: number;
}

export interface ResponseCacheOptions {
  /** Of everything: bodies, their encodings, keys and the rest. */
  readonly maxBytes: number;
}

/** Above this share of the bound every new entry evicts an old one. */
const FULL = 0.9;
/** A table that is not requested again within this time is not worth a place. */
const ADMISSION_MS = 10_000;
/** Headers, objects and map entries that a cached table takes besides its bodies and its key. */
const ENTRY_BYTES = 2_000;

/** An entry in the list by last use. */
interface LruNode {
  readonly entry: CacheEntry;
  cost: number;
  newer: LruNode | undefined;
  older: LruNode | undefined;
}

/**
 * Responses within a bound of memory; the least recently used are evicted first. The list is linked by hand, since a Map
 * that loses its first entry again and again is searched for its first entry ever longer.
 */
export function createResponseCache({ maxBytes }: ResponseCacheOptions): ResponseCache {
  const nodes = new Map<string, LruNode>();
  let newest: LruNode | undefined;
  let oldest: LruNode | undefined;
  let bytes = 0;
  const admission = createAdmissionFilter(ADMISSION_MS);

  const unlink = (node: LruNode): void => {
    if (node.newer === undefined) newest = node.older;
    else node.newer.older = node.older;
    if (node.older === undefined) oldest = node.newer;
    else node.older.newer = node.newer;
  };
  const link = (node: LruNode): void => {
    node.older = newest;
    node.newer = undefined;
    if (newest === undefined) oldest = node;
    else newest.newer = node;
    newest = node;
  };
  const evict = (node: LruNode): void => {
    unlink(node);
    nodes.delete(node.entry.key);
    bytes -= node.cost;
  };
  const updateCost = (node: LruNode): void => {
    const { key, response } = node.entry;
    const cost = ENTRY_BYTES + 2 * key.length + response.heldBytes;
    bytes += cost - node.cost;
    node.cost = cost;
    while (bytes > maxBytes && oldest !== undefined) evict(oldest);
  };

  return {
    get size() {
      return nodes.size;
    },
    get bytes() {
      return bytes;
    },
    get(key) {
      const node = nodes.get(key);
      if (node === undefined) return undefined;
      if (node !== newest) {
        unlink(node);
        link(node);
      }
      return node.entry;
    },
    put(entry, isAwaited = false) {
      const before = nodes.get(entry.key);
      if (before !== undefined) evict(before);
      else {
        const isFull = bytes > maxBytes * FULL;
        const isKnown = admission.sawRecently(entry.key, entry.freshness.requestedAtMs);
        if (isFull && !isKnown && !isAwaited) return;
      }
      entry.response.compact();
      const node: LruNode = { entry, cost: 0, newer: undefined, older: undefined };
      nodes.set(entry.key, node);
      link(node);
      entry.response.onGrowth = () => {
        if (nodes.get(entry.key) === node) updateCost(node);
      };
      updateCost(node);
    },
  };
}

/** Keys that are remembered at most; a new key replaces the one in its slot. */
const ADMISSION_SLOTS = 1 << 17;

/**
 * Remembers recent keys in little memory, so that tables that are requested once do not evict those that are requested
 * again and again. Two keys with one hash are one to it, which admits more, never less.
 */
interface AdmissionFilter {
  /** Whether the key came lately; records it. */
  sawRecently(key: string, nowMs: number): boolean;
}

function createAdmissionFilter(memoryMs: number): AdmissionFilter {
  const times = new Float64Array(ADMISSION_SLOTS).fill(Number.NEGATIVE_INFINITY);
  const hashes = new Int32Array(ADMISSION_SLOTS);
  return {
    sawRecently(key, nowMs) {
      const hash = hashOf(key);
      const slot = (hash ^ (hash >>> 15)) & (ADMISSION_SLOTS - 1);
      const isKnown = hashes[slot] === hash && nowMs - (times[slot] as number) < memoryMs;
      hashes[slot] = hash;
      times[slot] = nowMs;
      return isKnown;
    },
  };
}
