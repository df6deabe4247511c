import { bloomMatcher, expectedFalsePositives } from "../../../shared/evm/bloom.ts";
import {
  type BlockHeader,
  type Hex,
  type LogFilter,
  RangeTooLarge,
  type RawLog,
} from "../../../shared/evm/port.ts";
import type { TransferSource } from "./transfers.ts";

export interface HeadLogs {
  /** The filter's. */
  readonly logs: readonly RawLog[];
  /** Transfers of all contracts; "none" where the pools have none; undefined where they were not read. */
  readonly transfers: readonly RawLog[] | "none" | undefined;
}

/** From here on a bloom is likely to name one of the pools by chance, and each test of one costs a hash. */
const MUTE_BLOOM = 1;

/**
 * The logs of one block, which follows on the index, and where it may have Transfers of the pools, those of every contract
 * with them: one request for all costs less than one for every thousand pools. An endpoint that refuses so many logs gives
 * the filter's alone.
 */
export async function readHeadLogs(
  { source, topics }: Pick<TransferSource, "source" | "topics">,
  { block, filter, pools }: { block: BlockHeader; filter: LogFilter; pools: readonly Hex[] },
): Promise<HeadLogs> {
  const range = { fromBlock: block.number, toBlock: block.number, blockHash: block.hash, isLinked: true };
  const mayMove = bloomMatcher(topics)(block.logsBloom) && mayHoldOne(block.logsBloom, pools);
  if (!mayMove) return { logs: await source.logs(range, filter), transfers: "none" };
  try {
    const all = await source.logs(range, { topics: [...filter.topics, ...topics] });
    const isTransfer = new Set<string | undefined>(topics);
    return {
      logs: all.filter((log) => !isTransfer.has(log.topics[0])),
      transfers: all.filter((log) => isTransfer.has(log.topics[0])),
    };
  } catch (error) {
    if (!(error instanceof RangeTooLarge)) throw error;
    return { logs: await source.logs(range, filter), transfers: undefined };
  }
}

function mayHoldOne(bloom: Hex, pools: readonly Hex[]): boolean {
  return expectedFalsePositives(bloom, pools.length) >= MUTE_BLOOM || bloomMatcher(pools)(bloom);
}
