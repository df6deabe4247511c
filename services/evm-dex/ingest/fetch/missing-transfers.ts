import type { Hex, RawLog } from "../../../shared/evm/port.ts";
import type { Protocol } from "../../protocols/protocol.ts";
import type { PoolLog } from "./block-batch.ts";

/** A block in which LP tokens were minted, burnt or staked by transactions that have no Transfer of them. */
export interface MissingTransfers {
  readonly block: number;
  readonly pools: readonly Hex[];
  /** Whether a log is of one of those transactions and pools. */
  isMissing(log: RawLog): boolean;
}

/**
 * LP tokens never come, go or are staked without a Transfer in the same transaction. Transfers are asked for apart
 * from all other logs, and most blocks have none: this is how an answer that lacks some is found out.
 */
export function findMissingTransfers(
  ours: readonly PoolLog[],
  protocolOf: (pool: string) => Protocol | undefined,
): MissingTransfers[] {
  const transferred = new Set<string>();
  const needed = new Map<string, { block: number; pool: Hex }>();
  for (const { log, decoded: told } of ours) {
    if ("created" in told) continue;
    const lpTokens = protocolOf(told.pool)?.lpTokens;
    if (lpTokens === undefined) continue;
    const key = keyOf(log.transactionHash, told.pool);
    if (log.topics[0] === lpTokens.transfer.topic) transferred.add(key);
    else if (lpTokens.needsTransfer(told.event))
      needed.set(key, { block: log.blockNumber, pool: told.pool as Hex });
  }
  const missing = new Map([...needed].filter(([key]) => !transferred.has(key)));
  const blocks = new Map<number, Set<Hex>>();
  for (const { block, pool } of missing.values()) {
    const pools = blocks.get(block);
    if (pools === undefined) blocks.set(block, new Set([pool]));
    else pools.add(pool);
  }
  const isMissing = (log: RawLog) => missing.has(keyOf(log.transactionHash, log.address));
  return [...blocks].map(([block, pools]) => ({ block, pools: [...pools], isMissing }));
}

function keyOf(transaction: string, pool: string): string {
  return `${transaction}:${pool}`;
}
