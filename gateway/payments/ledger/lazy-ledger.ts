import { openLazily } from "../../lazy-store.ts";
import type { Ledger } from "./ledger.ts";

export interface OpenedLedger {
  readonly ledger: Ledger;
  close(): Promise<void>;
}

interface LazyLedger extends Ledger {
  /** Closes the store if it was opened. */
  close(): Promise<void>;
}

/** A ledger whose store may be unreachable at start: it is opened by the first call that reaches it. */
export function createLazyLedger(open: () => Promise<OpenedLedger>): LazyLedger {
  const store = openLazily(open);
  const opened = async (): Promise<Ledger> => (await store.get()).ledger;
  return {
    find: async (key) => (await opened()).find(key),
    open: async (record) => (await opened()).open(record),
    discard: async (record) => (await opened()).discard(record),
    markSettled: async (record, transaction) => (await opened()).markSettled(record, transaction),
    markVoid: async (record, reason) => (await opened()).markVoid(record, reason),
    markDelivered: async (record) => (await opened()).markDelivered(record),
    markOwed: async (record) => (await opened()).markOwed(record),
    noteReason: async (record, reason) => (await opened()).noteReason(record, reason),
    findOwed: async (payer, resource) => (await opened()).findOwed(payer, resource),
    findByIdentifier: async (payer, identifier) => (await opened()).findByIdentifier(payer, identifier),
    findOpen: async (query) => (await opened()).findOpen(query),
    countOpen: async (beforeMs) => (await opened()).countOpen(beforeMs),
    takeRound: async (times) => (await opened()).takeRound(times),
    endRound: async (round, next) => (await opened()).endRound(round, next),
    list: async (options) => (await opened()).list(options),
    storeResponse: async (record, answer) => (await opened()).storeResponse(record, answer),
    findResponse: async (record) => (await opened()).findResponse(record),
    clean: async (options) => (await opened()).clean(options),
    close: store.close,
  };
}
