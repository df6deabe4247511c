import type { BlockWithSenders, EvmSource, Hex, RawLog } from "../../../shared/evm/port.ts";
import type { Protocol } from "../../protocols/protocol.ts";
import type { PoolLog } from "./block-batch.ts";

/** A block with transactions that minted, burnt or staked LP tokens without a Transfer. */
interface MissingTransfers {
  readonly block: number;
  readonly pools: readonly Hex[];
  /** Whether a log belongs to one of those transactions and pools. */
  isMissing(log: RawLog): boolean;
}

/**
 * LP tokens are never minted, burnt or staked without a Transfer in the same transaction. Transfers are fetched apart
 * from all other logs, and most blocks have none: this detects responses that lack some.
 */
export function findMissingTransfers(
  poolLogs: readonly PoolLog[],
  protocolOf: (pool: string) => Protocol | undefined,
): MissingTransfers[] {
  const transferred = new Set<string>();
  const needed = new Map<string, { block: number; pool: Hex }>();
  for (const { log, decoded } of poolLogs) {
    if ("created" in decoded) continue;
    const lpTokens = protocolOf(decoded.pool)?.lpTokens;
    if (lpTokens === undefined) continue;
    const key = keyOf(log.transactionHash, decoded.pool);
    if (log.topics[0] === lpTokens.transfer.topic) transferred.add(key);
    else if (lpTokens.needsTransfer(decoded.event))
      needed.set(key, { block: log.blockNumber, pool: decoded.pool as Hex });
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

/** Those of the missing Transfers that the source has when it is asked again. */
export async function refetchTransfers(
  source: EvmSource,
  {
    missing,
    topics,
    blocks,
  }: {
    missing: readonly MissingTransfers[];
    topics: readonly Hex[];
    blocks: ReadonlyMap<number, BlockWithSenders>;
  },
): Promise<RawLog[]> {
  const found: RawLog[] = [];
  for (const { block, pools, isMissing } of missing) {
    const filter = { topics, addresses: pools };
    const logs = await source.logs({ fromBlock: block, toBlock: block }, filter);
    const header = blocks.get(block);
    const lacking = logs.filter(isMissing);
    // If they are still missing, the receipts decide.
    const proven =
      lacking.length > 0 || header === undefined
        ? lacking
        : await source.verifyEmpty([header], { logs: [], filter });
    found.push(...proven.filter(isMissing));
  }
  return found;
}
