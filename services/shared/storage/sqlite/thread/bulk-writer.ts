import type { BulkWriter, WriteStep } from "../../port.ts";
import type { Connection } from "../connection.ts";
import { CACHE_KB, limitCache, type SqliteOptions } from "../open-connection.ts";
import { type Operation, release } from "../operations.ts";
import type { BlockPool } from "../packed/blocks.ts";
import type { SpillFile } from "../packed/spill-file.ts";
import type { Change } from "../sql.ts";
import { startWriteThread } from "./write-thread.ts";

/** Of a connection that only reads beside a writer: what is on the way to the rows. */
const READING_CACHE_KB = 8_192;

export interface SqliteBulkWriter extends BulkWriter {
  /** Runs one statement in the thread, after the writes before it; returns how many rows it changed. */
  change(statement: Change): Promise<number>;
}

/** Writes to a store's file in a thread. While it does, the store's own connection keeps few pages: the thread has those that change. */
export function openBulkWriter(
  options: SqliteOptions,
  store: {
    readonly connection: Connection;
    readonly operationsOf: (steps: readonly WriteStep[]) => Operation[];
    readonly run: (operations: readonly Operation[]) => Promise<void>;
    readonly change: (statement: Change) => Promise<number>;
    readonly onFailure: (reason: string) => void;
    /** Of the rows that wait. */
    readonly pool: BlockPool;
    readonly spill: SpillFile | undefined;
    /** It is closed, or about to be. */
    readonly onClose: () => void;
  },
): SqliteBulkWriter {
  const { connection, operationsOf, run, change, onFailure, pool, spill, onClose } = store;
  const thread = startWriteThread(options, { here: run, changeHere: change, onFailure, pool });
  limitCache(connection, READING_CACHE_KB);
  return {
    async write(steps) {
      const operations = operationsOf(steps);
      try {
        if (operations.length > 0) await thread.run(operations);
      } finally {
        release(operations);
      }
    },
    change: (statement) => thread.change(statement),
    async close() {
      onClose();
      await thread.close();
      // What a long run of blocks needed: later writes are small.
      pool.clear();
      spill?.clear();
      limitCache(connection, CACHE_KB);
    },
  };
}
