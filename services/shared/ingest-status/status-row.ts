import { collection, type RowOf } from "../storage/collection.ts";

/**
 * The current work of an ingest. `no_source`: it runs without an endpoint for the chain. `reading`: it reads lending
 * entities. `backfilling`: it reads blocks behind the head.
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
 * One row per chain in each service's store, written by the ingest that holds the chain's lease. The service that serves
 * the store runs in another process, possibly on another machine, and shares nothing else with it.
 */
export const ingestStatus = collection({
  name: "ingest_status",
  fields: {
    chainId: "int",
    state: "text",
    /** Share of the work up to the head that is done, 0 to 1; null before the first measurement. */
    share: "float?",
    /** Includes all later stages; null while it cannot be estimated. */
    etaSeconds: "int?",
    /** Why it fails, in one sentence without credentials. */
    why: "text?",
    /** Unix milliseconds since when the state has been this one. */
    sinceMs: "int",
    /** The chain's head as last seen, and the latest indexed block. */
    head: "int?",
    block: "int?",
    /** History that grows backwards: Unix seconds from which on all is indexed, and at which it is to begin; else null. */
    historyFrom: "int?",
    historySince: "int?",
    /** Until then; null while it cannot be estimated. */
    historyEtaSeconds: "int?",
    /** Unix milliseconds by the ingest's clock. */
    updatedAtMs: "int",
  },
  key: ["chainId"],
  indexes: [],
  shardKey: ["chainId"],
});

export type IngestStatusRow = RowOf<typeof ingestStatus>;
