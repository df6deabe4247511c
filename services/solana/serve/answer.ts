import type { Cell } from "../../shared/contract/column.ts";
import type { DataVersion, Endpoint, TableResult } from "../../shared/contract/endpoint.ts";
import type { Store } from "../../shared/storage/port.ts";
import {
  ohlcvToken,
  poolTransactions,
  poolTransactionsTimeBounded,
  tokenMintBurnTransactions,
  tokenTransactions,
  tokenTransactionsTimeBounded,
} from "../contract.ts";
import { computeSwapShare } from "../metrics/swap-share.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { type DataKind, readAtHead } from "./head.ts";

/** Lists whose rows are kept for some days; candles, and what derives from them, are kept for ever. */
const RETAINED_PATHS: ReadonlySet<string> = new Set(
  [
    tokenTransactions,
    tokenTransactionsTimeBounded,
    poolTransactions,
    poolTransactionsTimeBounded,
    tokenMintBurnTransactions,
  ].map(({ path }) => path),
);

/** Lists and candles of trades. */
const TRADE_PATHS: ReadonlySet<string> = new Set(
  [
    tokenTransactions,
    tokenTransactionsTimeBounded,
    poolTransactions,
    poolTransactionsTimeBounded,
    ohlcvToken,
  ].map(({ path }) => path),
);

export function toDataVersion({ path }: Pick<Endpoint, "path">, checkpoint: CheckpointRow): DataVersion {
  const swapShare = TRADE_PATHS.has(path) ? computeSwapShare(checkpoint) : undefined;
  return {
    block: checkpoint.slot,
    time: checkpoint.time,
    blockHash: checkpoint.blockhash,
    fromBlock: RETAINED_PATHS.has(path) ? checkpoint.rowsFromSlot : checkpoint.fromSlot,
    ...(swapShare !== undefined && { swapShare }),
  };
}

/** An answer from one checkpoint; no rows while nothing is indexed. */
export async function answerAtHead(
  store: Store,
  options: {
    endpoint: Pick<Endpoint, "path">;
    dataKind: DataKind;
    signal: AbortSignal;
    read: (checkpoint: CheckpointRow, view: Store) => Promise<readonly (readonly Cell[])[]>;
  },
): Promise<TableResult> {
  const found = await readAtHead(store, options);
  if (found === undefined) return { rows: [] };
  return { rows: found.value, version: toDataVersion(options.endpoint, found.checkpoint) };
}
