import { collection, type RowOf } from "../../shared/storage/collection.ts";
import type { Store } from "../../shared/storage/port.ts";

/**
 * From when on the rows of a chain are complete. Of rows before that, only the last of each pool, token or position
 * remains. No row: all are kept.
 */
export const retentions = collection({
  name: "retentions",
  fields: {
    chainId: "int",
    /** Which rows: the name of their collection, and of buckets their span (rollups/60). */
    rows: "text",
    /** Rows before this time (Unix seconds) and block are gone or may be gone soon: written before any is removed. */
    time: "int",
    blockNumber: "int",
    /** Rows before these are gone, but for the last ones: where removing goes on. */
    goneTime: "int",
    goneBlock: "int",
    /** The first indexed block when removing began: history that is indexed later is removed anew. */
    fromBlock: "int",
  },
  key: ["chainId", "rows"],
  indexes: [],
  shardKey: ["chainId"],
});

export type RetentionRow = RowOf<typeof retentions>;

export function getRetention(
  store: Store,
  key: { chainId: number; rows: string },
): Promise<RetentionRow | undefined> {
  return store.get(retentions, key);
}

/** All of a chain, by their rows. */
export async function listRetentions(store: Store, chainId: number): Promise<Map<string, RetentionRow>> {
  const rows = await store.find(retentions, { filter: { chainId } });
  return new Map(rows.map((row) => [row.rows, row]));
}
