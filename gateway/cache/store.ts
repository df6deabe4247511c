import type { WholeAnswer } from "../http/whole-answer.ts";

/** A table that is kept. */
export interface Entry {
  readonly key: string;
  answer: WholeAnswer;
  /** Monotonic milliseconds: when it was asked for, and until when it may be given without asking. */
  askedAtMs: number;
  freshUntilMs: number;
}

export interface KeptAnswers {
  /** Fresh or not: one that is not may be so again when its service says that nothing has changed. */
  get(key: string): Entry | undefined;
  /** Keeps an answer in place of what was kept under its key. */
  put(entry: Entry): void;
  readonly size: number;
  readonly bytes: number;
}

export interface KeptAnswersOptions {
  /** Of everything: bodies, what was made of them, keys and the rest. */
  readonly maxBytes: number;
}

/** Headers, objects and the places in maps that an entry takes besides its bodies and its key. */
const ENTRY_BYTES = 2_000;

/** Answers within a bound of memory; those that nobody has asked for for longest go first. */
export function createKeptAnswers({ maxBytes }: KeptAnswersOptions): KeptAnswers {
  // In the order of their last use: a map iterates by insertion.
  const entries = new Map<string, Entry>();
  const costs = new Map<Entry, number>();
  let bytes = 0;

  const forget = (entry: Entry): void => {
    entries.delete(entry.key);
    bytes -= costs.get(entry) ?? 0;
    costs.delete(entry);
  };

  const settle = (entry: Entry): void => {
    const cost = ENTRY_BYTES + 2 * entry.key.length + entry.answer.heldBytes;
    bytes += cost - (costs.get(entry) ?? 0);
    costs.set(entry, cost);
    for (const oldest of entries.values()) {
      if (bytes <= maxBytes) return;
      forget(oldest);
    }
  };

  return {
    get size() {
      return entries.size;
    },
    get bytes() {
      return bytes;
    },
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry;
    },
    put(entry) {
      const before = entries.get(entry.key);
      if (before !== undefined && before !== entry) forget(before);
      entries.delete(entry.key);
      entries.set(entry.key, entry);
      entry.answer.onGrowth = () => {
        if (costs.has(entry)) settle(entry);
      };
      settle(entry);
    },
  };
}
