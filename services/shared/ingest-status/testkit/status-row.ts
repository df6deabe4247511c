import type { ChainReading } from "../../grpc/types.ts";
import { deriveChainReading } from "../chain-state.ts";
import type { IngestStatusRow } from "../status-row.ts";

/** For tests of status: chains of which no ingest has ever said anything. */
export const unreported = {
  get: (chainId: number, hasData: boolean): ChainReading =>
    deriveChainReading({ hasData, seen: undefined, isExpected: false, chainId }),
};

const NO_HISTORY = { historyFrom: null, historySince: null, historyEtaSeconds: null };
const NOTHING = { share: null, etaSeconds: null, since: null, ...NO_HISTORY };
export const SERVED: ChainReading = { ...NOTHING, state: "serving", why: null };

export function withoutSource(chainId: 0 | 1 | 8453): ChainReading {
  const why = {
    0: "No source is configured for Solana (SOLANA_RPC).",
    1: "No source is configured for chain 1 (EVM_RPC_1).",
    8453: "No source is configured for chain 8453 (EVM_RPC_8453).",
  }[chainId];
  return { ...NOTHING, state: "no_source", why };
}

/** A row as an ingest writes it: in the middle of a discovery, reported just now. */
export function statusRow(row: Partial<IngestStatusRow> = {}): IngestStatusRow {
  const nowMs = Date.now();
  return {
    ...{ chainId: 8453, state: "discovering", share: 0.345, etaSeconds: 130, why: null },
    ...{ sinceMs: nowMs - 60_000, head: 5_000, block: null, updatedAtMs: nowMs },
    ...NO_HISTORY,
    ...row,
  };
}
