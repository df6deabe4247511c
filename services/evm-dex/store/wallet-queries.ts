import type { Store } from "../../shared/storage/port.ts";
import { aerodromeV2 } from "../protocols/aerodrome-v2.ts";
import { type CheckpointRow, pools } from "./collections.ts";
import {
  gauges,
  knownWallets,
  type LpAnchorRow,
  type LpEventRow,
  lpAnchors,
  lpEvents,
  type WalletRequestRow,
  walletRequests,
} from "./v2-collections.ts";

type IndexStart = Pick<CheckpointRow, "chainId" | "fromBlock" | "fromTime">;

/** What is known of a wallet's positions before the first indexed block. */
export interface WalletPast {
  /** Whether any pool is older than the index: only then is there a past to read. */
  readonly hasOldPools: boolean;
  /** Whether its rows in lp_anchors are all there were. */
  readonly isKnown: boolean;
}

/** Pools with LP tokens, and gauges, that are older than the index: whatever a wallet's past can be in. */
export async function countOldContracts(
  store: Store,
  { chainId, fromBlock, fromTime }: IndexStart,
): Promise<number> {
  const [oldPools, oldGauges] = await Promise.all([
    // By time, which has an index: a block before the first indexed one is of an earlier second.
    store.count(pools, { chainId, protocol: aerodromeV2.kind, createdAt: { lt: fromTime } }),
    store.count(gauges, { chainId, createdBlock: { lt: fromBlock } }),
  ]);
  return oldPools + oldGauges;
}

export async function readWalletPast(
  store: Store,
  { wallet, checkpoint }: { wallet: string; checkpoint: IndexStart },
): Promise<WalletPast> {
  const { chainId } = checkpoint;
  const contracts = await countOldContracts(store, checkpoint);
  if (contracts === 0) return { hasOldPools: false, isKnown: true };
  const known = await store.get(knownWallets, { chainId, wallet });
  return { hasOldPools: true, isKnown: known !== undefined && known.contracts >= contracts };
}

/** What a wallet held before the index, by pool: those after a pool, at most `limit`. */
export function findLpAnchors(
  store: Store,
  { chainId, wallet, after, limit }: { chainId: number; wallet: string; after: string; limit: number },
): Promise<LpAnchorRow[]> {
  return store.find(lpAnchors, { filter: { chainId, wallet, poolAddress: { gt: after } }, limit });
}

/** Whose positions changed after a block, and where: at most `limit` changes of all wallets. */
export function findWalletsChanges(
  store: Store,
  { chainId, after, limit }: { chainId: number; after: number; limit: number },
): Promise<Pick<LpEventRow, "wallet" | "poolAddress">[]> {
  return store.find(lpEvents, {
    filter: { chainId, blockNumber: { gt: after } },
    fields: ["wallet", "poolAddress"],
    limit,
  });
}

/** The wallets that wait longest, at most `limit`. */
export function listWalletRequests(
  store: Store,
  { chainId, limit }: { chainId: number; limit: number },
): Promise<WalletRequestRow[]> {
  return store.find(walletRequests, {
    filter: { chainId },
    order: [{ field: "requestedAtMs", direction: "asc" }],
    limit,
  });
}
