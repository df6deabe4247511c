/** Places for keys; two keys at one place only make the doorkeeper kinder. */
const PLACES = 1 << 16;

/**
 * Remembers for a while which keys were asked for, in little memory: a table of what everybody asks for once would push
 * out what many ask for again and again, and be kept for nothing.
 */
export interface Doorkeeper {
  /** Whether the key was seen lately; from now on it was. */
  seesAgain(key: string, nowMs: number): boolean;
}

export function createDoorkeeper(memoryMs: number): Doorkeeper {
  const seenAt = new Float64Array(PLACES).fill(Number.NEGATIVE_INFINITY);
  return {
    seesAgain(key, nowMs) {
      const place = placeOf(key);
      const isKnown = nowMs - (seenAt[place] as number) < memoryMs;
      seenAt[place] = nowMs;
      return isKnown;
    },
  };
}

/** FNV-1a. */
function placeOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 16)) & (PLACES - 1);
}
