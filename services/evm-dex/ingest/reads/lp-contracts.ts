import type { Store } from "../../../shared/storage/port.ts";
import { MINIMUM_LIQUIDITY } from "../../protocols/aerodrome-v2/positions.ts";
import { readV2State, type V2State } from "../../protocols/aerodrome-v2/state.ts";
import { aerodromeV2 } from "../../protocols/aerodrome-v2.ts";
import { inactivePools, poolStates } from "../../store/collections.ts";
import { listPoolsOfKinds } from "../../store/pool-lists.ts";
import { getCheckpoint } from "../../store/queries.ts";
import { listGauges } from "../../store/v2-queries.ts";
import { countOldContracts } from "../../store/wallet-queries.ts";

const POOLS_A_READ = 500;
/** The background job reads inactive pools meanwhile: then more of them are known to be empty. */
const RELOAD_MS = 600_000;

/** Pools where a wallet can have had LP tokens before the index, each with the gauge where it can have staked them. */
export interface LpContracts extends ReadonlyMap<string, string | undefined> {
  readonly count: number;
  readonly loadedAtMs: number;
}

/**
 * The pools older than the index, and their gauges. Without those of which the state before the index says that nobody
 * held or had staked anything. Returns `known` while that is current.
 */
export async function listLpContracts(
  store: Store,
  { chainId, known }: { chainId: number; known: LpContracts | undefined },
): Promise<LpContracts> {
  const checkpoint = await getCheckpoint(store, chainId);
  if (checkpoint === undefined) throw new Error(`Chain ${chainId} is not indexed.`);
  const { fromBlock } = checkpoint;
  const count = await countOldContracts(store, checkpoint);
  const nowMs = performance.now();
  if (known !== undefined && known.count === count && nowMs - known.loadedAtMs < RELOAD_MS) return known;
  const older = (await listPoolsOfKinds(store, { chainId, kinds: [aerodromeV2.kind] }))
    .filter(({ createdBlock }) => createdBlock < fromBlock)
    .map(({ poolAddress }) => poolAddress);
  const gaugeOf = new Map(
    (await listGauges(store, chainId))
      .filter(({ createdBlock }) => createdBlock < fromBlock)
      .map(({ poolAddress, gauge }) => [poolAddress, gauge]),
  );
  const contracts = new Map<string, string | undefined>();
  for (let from = 0; from < older.length; from += POOLS_A_READ) {
    const some = older.slice(from, from + POOLS_A_READ);
    const before = await statesBefore(store, { chainId, pools: some });
    for (const pool of some) {
      const state = before.get(pool);
      if (state !== undefined && isEmpty(state)) continue;
      const isUnstaked = state?.gauge !== undefined && state.staked === 0n;
      contracts.set(pool, isUnstaked ? undefined : gaugeOf.get(pool));
    }
    await new Promise(setImmediate);
  }
  return Object.assign(contracts, { count, loadedAtMs: nowMs });
}

/** Reserves without LP tokens: only balances could be read (stateFromBalances), which say nothing of holders. */
function isEmpty({ totalSupply, reserve0, reserve1 }: V2State): boolean {
  return totalSupply <= MINIMUM_LIQUIDITY && (totalSupply > 0n || reserve0 + reserve1 === 0n);
}

/** What is stored of the pools' states just before the index. */
async function statesBefore(store: Store, { chainId, pools }: { chainId: number; pools: readonly string[] }) {
  const filter = { chainId, poolAddress: { in: pools } };
  const [inactive, active] = await Promise.all([
    store.find(inactivePools, { filter, fields: ["poolAddress", "state"] }),
    store.find(poolStates, { filter, fields: ["poolAddress", "anchor"] }),
  ]);
  return new Map([
    ...inactive.map(({ poolAddress, state }) => [poolAddress, readV2State(state)] as const),
    ...active.map(({ poolAddress, anchor }) => [poolAddress, readV2State(anchor)] as const),
  ]);
}
