import type { EncodableResponse } from "../delivery/encodable-response.ts";
import { createDoorkeeper } from "./doorkeeper.ts";

/** A table that is kept. */
export interface Entry {
  readonly key: string;
  answer: EncodableResponse;
  /** Monotonic milliseconds: when it was asked for, and until when it may be given without asking. */
  askedAtMs: number;
  freshUntilMs: number;
}

export interface ResponseCache {
  /** Fresh or not: one that is not may be so again when its service says that nothing has changed. */
  get(key: string): Entry | undefined;
  /**
   * Keeps an answer in place of what was kept under its key. Where there is no room left, one that was not asked for
   * lately is not kept; `isWanted` says that others wait for it.
   */
  put(entry: Entry, isWanted?: boolean): void;
  readonly size: number;
  readonly bytes: number;
}

export interface KeptAnswersOptions {
  /** Of everything: bodies, what was made of them, keys and the rest. */
  readonly maxBytes: number;
}

/** Above this share of the bound every new table costs an old one. */
const FULL = 0.9;
/** A table that nobody asks for again within this time is not worth a place. */
const DOORKEEPER_MS = 10_000;
/** Headers, objects and the places in maps that an entry takes besides its bodies and its key. */
const ENTRY_BYTES = 2_000;

/** An entry's place among the others, by when it was last asked for. */
interface Place {
  readonly entry: Entry;
  cost: number;
  /** Toward those that were asked for later and earlier. */
  newer: Place | undefined;
  older: Place | undefined;
}

/**
 * Answers within a bound of memory; those that nobody has asked for for longest go first. A list by hand, since a Map
 * that loses its first entry again and again is searched for its first entry ever longer.
 */
export function createResponseCache({ maxBytes }: KeptAnswersOptions): ResponseCache {
  const places = new Map<string, Place>();
  let newest: Place | undefined;
  let oldest: Place | undefined;
  let bytes = 0;
  const doorkeeper = createDoorkeeper(DOORKEEPER_MS);

  const unlink = (place: Place): void => {
    if (place.newer === undefined) newest = place.older;
    else place.newer.older = place.older;
    if (place.older === undefined) oldest = place.newer;
    else place.older.newer = place.newer;
  };
  const link = (place: Place): void => {
    place.older = newest;
    place.newer = undefined;
    if (newest === undefined) oldest = place;
    else newest.newer = place;
    newest = place;
  };
  const forget = (place: Place): void => {
    unlink(place);
    places.delete(place.entry.key);
    bytes -= place.cost;
  };
  const settle = (place: Place): void => {
    const { key, answer } = place.entry;
    const cost = ENTRY_BYTES + 2 * key.length + answer.heldBytes;
    bytes += cost - place.cost;
    place.cost = cost;
    while (bytes > maxBytes && oldest !== undefined) forget(oldest);
  };

  return {
    get size() {
      return places.size;
    },
    get bytes() {
      return bytes;
    },
    get(key) {
      const place = places.get(key);
      if (place === undefined) return undefined;
      if (place !== newest) {
        unlink(place);
        link(place);
      }
      return place.entry;
    },
    put(entry, isWanted = false) {
      const before = places.get(entry.key);
      if (before !== undefined) forget(before);
      else {
        const isFull = bytes > maxBytes * FULL;
        const isKnown = doorkeeper.seesAgain(entry.key, entry.askedAtMs);
        if (isFull && !isKnown && !isWanted) return;
      }
      entry.answer.settle();
      const place: Place = { entry, cost: 0, newer: undefined, older: undefined };
      places.set(entry.key, place);
      link(place);
      entry.answer.onGrowth = () => {
        if (places.get(entry.key) === place) settle(place);
      };
      settle(place);
    },
  };
}
