import type { Cell } from "../../shared/contract/column.ts";
import type { DataVersion, Endpoint, TableResult } from "../../shared/contract/endpoint.ts";
import type { Store } from "../../shared/storage/port.ts";
import {
  poolTransactions,
  poolTransactionsTimeBounded,
  tokenMintBurnTransactions,
  tokenTransactions,
  tokenTransactionsTimeBounded,
} from "../contract.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { type DataKind, readAtHead } from "./head.ts";

/** Lists of rows, which are kept for some days; candles, and what derives from them, for ever. */
const RETAINED_PATHS: ReadonlySet<string> = new Set(
  [
    tokenTransactions,
    tokenTransactionsTimeBounded,
    poolTransactions,
    poolTransactionsTimeBounded,
    tokenMintBurnTransactions,
  ].map(({ path }) => path),
);

export function toDataVersion({ path }: Pick<Endpoint, "path">, checkpoint: CheckpointRow): DataVersion {
  return {
    block: checkpoint.slot,
    time: checkpoint.time,
    blockHash: checkpoint.blockhash,
    fromBlock: RETAINED_PATHS.has(path) ? checkpoint.rowsFromSlot : checkpoint.fromSlot,
  };
}

/** An answer of which everything stands on one checkpoint; no rows where nothing is indexed yet. */
export async function answerAtHead(
  store: Store,
  of: {
    endpoint: Pick<Endpoint, "path">;
    matter: DataKind;
    read: (checkpoint: CheckpointRow) => Promise<readonly (readonly Cell[])[]>;
  },
): Promise<TableResult> {
  const found = await readAtHead(store, of);
  if (found === undefined) return { rows: [] };
  return { rows: found.value, version: toDataVersion(of.endpoint, found.checkpoint) };
}
