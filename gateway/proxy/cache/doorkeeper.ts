import { hashOf } from "./hash.ts";

/** Keys that are remembered at most; one that comes to another's place takes it. */
const PLACES = 1 << 17;

/**
 * Remembers for a while which keys were asked for, in little memory: a table of what everybody asks for once would push
 * out what many ask for again and again, and be kept for nothing. Two keys of one hash are one to it, which only makes
 * it kinder.
 */
export interface Doorkeeper {
  /** Whether the key was seen lately; from now on it was. */
  seesAgain(key: string, nowMs: number): boolean;
}

export function createDoorkeeper(memoryMs: number): Doorkeeper {
  const seenAt = new Float64Array(PLACES).fill(Number.NEGATIVE_INFINITY);
  const seen = new Int32Array(PLACES);
  return {
    seesAgain(key, nowMs) {
      const hash = hashOf(key);
      const place = (hash ^ (hash >>> 15)) & (PLACES - 1);
      const isKnown = seen[place] === hash && nowMs - (seenAt[place] as number) < memoryMs;
      seen[place] = hash;
      seenAt[place] = nowMs;
      return isKnown;
    },
  };
}
