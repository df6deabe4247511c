import { collection, type RowOf } from "../storage/port.ts";

/**
 * What an ingest does right now. `no_source`: it runs without an endpoint for the chain.
 * `reading` reads units of lending, `backfilling` reads blocks behind the head.
 */
export const INGEST_STATES = [
  "starting",
  "discovering",
  "reading",
  "backfilling",
  "following",
  "failing",
  "no_source",
] as const;
export type IngestState = (typeof INGEST_STATES)[number];

/**
 * One row per chain in each service's store: the ingest that holds the chain's lease says here what it does. The
 * service that serves the store runs in another process, possibly on another machine, and shares nothing else with it.
 */
export const ingestStatus = collection({
  name: "ingest_status",
  fields: {
    chainId: "int",
    state: "text",
    /** Of everything to be read until the head is reached, 0 to 1; null where nothing was measured yet. */
    share: "float?",
    /** Counts everything that is still to come; null while it cannot be estimated. */
    etaSeconds: "int?",
    /** Why it fails, in one sentence without credentials. */
    why: "text?",
    /** Unix milliseconds since when the state has been this one. */
    sinceMs: "int",
    /** The chain's head as last seen, and the block that the store stands on. */
    head: "int?",
    block: "int?",
    /** Unix milliseconds by the clock of the ingest. */
    updatedAtMs: "int",
  },
  key: ["chainId"],
  indexes: [],
  shardKey: ["chainId"],
});

export type IngestStatusRow = RowOf<typeof ingestStatus>;
