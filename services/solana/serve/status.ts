import type { ChainReading, ChainStatus, ServiceMode } from "../../shared/grpc/types.ts";
import type { OwnStatus } from "../../shared/service/run-service.ts";
import type { Store } from "../../shared/storage/port.ts";
import { computeSwapShare } from "../metrics/swap-share.ts";
import { CHAIN_ID, getCheckpoint } from "../store/queries.ts";
import { hasData } from "./head.ts";

/** A head this much older than now is stale: some 300 slots. */
const STALE_AFTER_SECONDS = 120;

/** How far the chain is indexed; `empty` before the first block. `readings` has the ingest's progress. */
export function createStatus(
  {
    store,
    readings,
  }: { readonly store: Store; readonly readings: { get(chainId: number, hasData: boolean): ChainReading } },
  now: () => number = Date.now,
): (signal?: AbortSignal) => Promise<OwnStatus> {
  return async () => {
    const checkpoint = await getCheckpoint(store);
    const known = { chainId: CHAIN_ID, name: "Solana", ...readings.get(CHAIN_ID, hasData(checkpoint)) };
    const chainHead = checkpoint?.headSlot ?? null;
    if (!hasData(checkpoint)) {
      const nothing = { indexedBlock: null, indexedBlockHash: null, indexedTime: null, fromBlock: null };
      const chain: ChainStatus = { ...known, ...nothing, chainHead, lagBlocks: null };
      return { mode: "empty", chains: [chain], peers: [] };
    }
    const { slot, blockhash, time, fromSlot, headSlot, finalizedSlot } = checkpoint;
    const swapShare = computeSwapShare(checkpoint);
    const chain: ChainStatus = {
      ...known,
      indexedBlock: slot,
      indexedBlockHash: blockhash,
      indexedTime: time,
      fromBlock: fromSlot,
      chainHead,
      lagBlocks: Math.max(0, headSlot - slot),
      ...(swapShare !== undefined && { swapShare }),
      // Slots without a block lie between: the index may be a few behind a head that is final itself.
      ...(finalizedSlot >= fromSlot && { finalBlock: Math.min(finalizedSlot, slot) }),
    };
    const mode: ServiceMode = now() / 1000 - time > STALE_AFTER_SECONDS ? "stale" : "serving";
    return { mode, chains: [chain], peers: [] };
  };
}
