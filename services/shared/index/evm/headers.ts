import type { BlockHeader, LogRange } from "../../evm/port.ts";
import type { BlockRef } from "../../grpc/types.ts";
import { collection, type RowOf } from "../../storage/collection.ts";
import type { Store } from "../../storage/port.ts";

/** The last headers up to the checkpoint: a reorg is found by their hashes. Lending keeps block 0 too. */
export const headers = collection({
  name: "headers",
  fields: { chainId: "int", number: "int", hash: "text", parentHash: "text", time: "int" },
  key: ["chainId", "number"],
  indexes: [],
  shardKey: ["chainId"],
});

export type HeaderRow = RowOf<typeof headers>;

export function toHeaderRow(
  chainId: number,
  { number, hash, parentHash, timestamp }: Pick<BlockHeader, "number" | "hash" | "parentHash" | "timestamp">,
): HeaderRow {
  return { chainId, number, hash, parentHash, time: timestamp };
}

/** The last stored blocks up to this one, oldest first. */
export async function readRecentHeaders(
  store: Pick<Store, "find">,
  { chainId, block, count }: { readonly chainId: number; readonly block: number; readonly count: number },
): Promise<BlockRef[]> {
  const rows = await store.find(headers, {
    filter: { chainId, number: { gt: block - count, lte: block } },
    order: [{ field: "number", direction: "asc" }],
    fields: ["number", "hash"],
  });
  return rows.map(({ number, hash }) => ({ block: number, hash }));
}

/** Inclusive. */
export function blockNumbers({ fromBlock, toBlock }: LogRange): number[] {
  return Array.from({ length: toBlock - fromBlock + 1 }, (_, i) => fromBlock + i);
}
