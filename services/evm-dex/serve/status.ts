import { readFinalBlock } from "../../shared/evm/finality/known-final.ts";
import type { ChainReading, ChainStatus, ServiceMode } from "../../shared/grpc/types.ts";
import { hasData } from "../../shared/index/evm/checkpoint.ts";
import type { OwnStatus } from "../../shared/service/run-service.ts";
import type { ChainDeployments } from "../deployments.ts";
import { getCheckpoint } from "../store/queries.ts";
import type { StoreDeps } from "./deps.ts";

/** A head this much older than now is stale: about 150 blocks of Base, 25 of Ethereum. */
const STALE_AFTER_SECONDS = 300;

/**
 * How far each chain is indexed. `empty` until one chain has a block; `stale` while every indexed chain lags.
 * `readings` has the progress of each chain's ingest.
 */
export function createStatus(
  {
    store,
    chains,
    readings,
  }: StoreDeps & { readonly readings: { get(chainId: number, hasData: boolean): ChainReading } },
  now: () => number = Date.now,
): (signal?: AbortSignal) => Promise<OwnStatus> {
  const chainStatus = async (chain: ChainDeployments): Promise<ChainStatus> => {
    const [checkpoint, finalBlock] = await Promise.all([
      getCheckpoint(store, chain.chainId),
      readFinalBlock(store, chain.chainId),
    ]);
    const known = { chainId: chain.chainId, name: chain.name };
    const chainHead = checkpoint?.chainHead ?? null;
    if (!hasData(checkpoint)) {
      const nothing = { indexedBlock: null, indexedBlockHash: null, indexedTime: null, fromBlock: null };
      return { ...known, ...nothing, chainHead, lagBlocks: null, ...readings.get(chain.chainId, false) };
    }
    return {
      ...known,
      ...readings.get(chain.chainId, true),
      indexedBlock: checkpoint.blockNumber,
      indexedBlockHash: checkpoint.blockHash,
      indexedTime: checkpoint.blockTime,
      fromBlock: checkpoint.fromBlock,
      chainHead: checkpoint.chainHead,
      lagBlocks: Math.max(0, checkpoint.chainHead - checkpoint.blockNumber),
      ...(finalBlock !== undefined && { finalBlock }),
    };
  };
  return async () => {
    const statuses = await Promise.all(chains.map(chainStatus));
    return { mode: modeOf(statuses, now() / 1000), chains: statuses, peers: [] };
  };
}

function modeOf(chains: readonly ChainStatus[], nowSeconds: number): ServiceMode {
  const times = chains.flatMap((chain) => (chain.indexedTime === null ? [] : [chain.indexedTime]));
  if (times.length === 0) return "empty";
  return times.every((time) => nowSeconds - time > STALE_AFTER_SECONDS) ? "stale" : "serving";
}
