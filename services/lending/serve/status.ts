import type { ChainReading, ChainStatus, PeerStatus, ServiceMode } from "../../shared/grpc/types.ts";
import { hasData } from "../../shared/index/evm/checkpoint.ts";
import type { HeadWatcher } from "../../shared/service/head-watcher.ts";
import type { OwnStatus } from "../../shared/service/run-service.ts";
import type { ChainDeployments } from "../deployments.ts";
import type { CheckpointRow } from "../store/collections.ts";
import type { LendingTables } from "./tables/lending-tables.ts";

/** A head this much older than now is stale: some 150 blocks of Base, 25 of Ethereum. */
const STALE_AFTER_SECONDS = 300;

export interface StatusOptions {
  readonly chains: readonly Pick<ChainDeployments, "chainId" | "name">[];
  readonly heads: Pick<HeadWatcher<CheckpointRow>, "last">;
  readonly tables: Pick<LendingTables, "isStarting">;
  readonly peers: () => readonly PeerStatus[];
  /** As last read: a status does not wait for the store. */
  readonly finalBlocks: { last(chainId: number): number | undefined };
  /** What is being read of a chain. */
  readonly readings: { get(chainId: number, hasData: boolean): ChainReading };
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * How far each chain is indexed, by the store's last response: while the store is unavailable, the tables still serve.
 * `starting` until the tables are built once, `empty` until one chain has a block, `stale` while every indexed chain
 * lags. Peers do not change the mode: without evm-dex only prices are missing.
 */
export function createStatus({
  chains,
  heads,
  tables,
  peers,
  finalBlocks,
  readings,
  now = Date.now,
}: StatusOptions): () => Promise<OwnStatus> {
  return async () => {
    const statuses = chains.map((chain) => {
      const checkpoint = heads.last(chain.chainId);
      const finalBlock = hasData(checkpoint) ? finalBlocks.last(chain.chainId) : undefined;
      return {
        ...chainStatus(chain, checkpoint),
        ...readings.get(chain.chainId, hasData(checkpoint)),
        ...(finalBlock !== undefined && { finalBlock }),
      };
    });
    const mode = tables.isStarting ? "starting" : modeOf(statuses, now() / 1000);
    return { mode, chains: statuses, peers: peers() };
  };
}

function chainStatus(
  { chainId, name }: Pick<ChainDeployments, "chainId" | "name">,
  checkpoint: CheckpointRow | undefined,
): Omit<ChainStatus, keyof ChainReading> {
  const chainHead = checkpoint?.chainHead ?? null;
  if (!hasData(checkpoint)) {
    const nothing = { indexedBlock: null, indexedBlockHash: null, indexedTime: null, fromBlock: null };
    return { chainId, name, ...nothing, chainHead, lagBlocks: null };
  }
  return {
    chainId,
    name,
    indexedBlock: checkpoint.blockNumber,
    indexedBlockHash: checkpoint.blockHash,
    indexedTime: checkpoint.blockTime,
    fromBlock: checkpoint.fromBlock,
    chainHead: checkpoint.chainHead,
    lagBlocks: Math.max(0, checkpoint.chainHead - checkpoint.blockNumber),
  };
}

function modeOf(chains: readonly ChainStatus[], nowSeconds: number): ServiceMode {
  const times = chains.flatMap((chain) => (chain.indexedTime === null ? [] : [chain.indexedTime]));
  if (times.length === 0) return "empty";
  return times.every((time) => nowSeconds - time > STALE_AFTER_SECONDS) ? "stale" : "serving";
}
