import type { Endpoint } from "../../shared/contract/endpoint.ts";
import { hasData } from "../../shared/index/evm/checkpoint.ts";
import type { ExampleCandidate, FindExampleCandidates } from "../../shared/service/examples.ts";
import type { Store } from "../../shared/storage/port.ts";
import { type ChainDeployments, dexTypeOf } from "../deployments.ts";
import { DAY } from "../metrics/bucket.ts";
import { positionText } from "../metrics/lp-position.ts";
import { type CheckpointRow, type PoolRow, poolEvents, pools } from "../store/collections.ts";
import { getCheckpoint, getPools } from "../store/queries.ts";
import { lpEvents, lpPositions } from "../store/v2-collections.ts";
import type { StoreDeps } from "./deps.ts";

/** Rows searched for recent activity, from the head backwards, or for any pool where there is none. */
const SAMPLE = 500;
const SCENES_A_CHAIN = 8;
/** What the second word of a path may name: families of pools. */
const FAMILIES: ReadonlySet<string> = new Set(["dexa", "dexb", "clones"]);
/** Parameters that a pool gives an example of. */
const ABOUT_POOLS = ["pool_address", "token_address", "tokens"] as const;
/** The default chain of requests. */
const USUAL_CHAIN = 8453;

/**
 * Pools, tokens and liquidity providers that were busy in the last blocks, of the family and generation in the path
 * (/evm/<family>/<v2|v3>/…) or of any where the path names none, on each chain of the endpoint.
 */
export function findExampleScenes({ store, chains }: StoreDeps): FindExampleCandidates {
  return async (endpoint) => {
    const scenes: ExampleCandidate[] = [];
    for (const chain of chainsOf(endpoint, chains)) {
      const head = await getCheckpoint(store, chain.chainId);
      if (hasData(head)) scenes.push(...(await findOnChain(store, { chain, head, endpoint })));
    }
    return scenes;
  };
}

/** The chains that its chain_id accepts, the default one first; all of them where it has no chain_id. */
function chainsOf({ params }: Endpoint, chains: readonly ChainDeployments[]): ChainDeployments[] {
  const accepted = chains.filter(
    ({ chainId }) => params.chain_id?.safeParse(String(chainId)).success !== false,
  );
  return accepted.sort((a, b) => Number(b.chainId === USUAL_CHAIN) - Number(a.chainId === USUAL_CHAIN));
}

async function findOnChain(
  store: Store,
  { chain, head, endpoint }: { chain: ChainDeployments; head: CheckpointRow; endpoint: Endpoint },
): Promise<ExampleCandidate[]> {
  const { path, params } = endpoint;
  const [, , family = "", generation = ""] = path.split("/");
  const ofChain = { chain_id: String(chain.chainId) };
  const isOfFamily = FAMILIES.has(family);
  // A list of chains or exchanges.
  if (!isOfFamily && !ABOUT_POOLS.some((name) => name in params)) return [ofChain];
  const served = chain.factories.filter(
    (factory) => !isOfFamily || (factory.family === family && dexTypeOf(factory) === generation),
  );
  if (served.length === 0) return [ofChain];
  const kinds = new Set(served.map(({ kind }) => kind as string));
  const wanted = (pool: PoolRow) => (!isOfFamily || pool.family === family) && kinds.has(pool.protocol);
  const found = await findPools(store, { chainId: chain.chainId, kinds, wanted });
  if (found.length === 0) return [];
  const wallets = "wallet_address" in params ? await findWallets(store, chain.chainId) : [undefined];
  return wallets.slice(0, SCENES_A_CHAIN).flatMap((wallet_address) =>
    found.slice(0, SCENES_A_CHAIN).map(({ poolAddress, token0Address, token1Address }) => ({
      ...ofChain,
      pool_address: poolAddress,
      token_address: token0Address,
      tokens: `${token0Address},${token1Address}`,
      at_block: String(head.blockNumber),
      // A day: few enough candles of the interval in the declaration.
      ...{ after_time: String(Math.max(0, head.blockTime - DAY)), before_time: String(head.blockTime + 1) },
      ...(wallet_address !== undefined && { wallet_address }),
    })),
  );
}

/** The busiest wanted pools of the last events, else the youngest ones of each kind. */
async function findPools(
  store: Store,
  {
    chainId,
    kinds,
    wanted,
  }: { chainId: number; kinds: ReadonlySet<string>; wanted: (pool: PoolRow) => boolean },
): Promise<PoolRow[]> {
  const events = await store.find(poolEvents, {
    filter: { chainId },
    order: [
      { field: "blockNumber", direction: "desc" },
      { field: "logIndex", direction: "desc" },
    ],
    limit: SAMPLE,
    fields: ["poolAddress"],
  });
  const addresses = byFrequency(events.map(({ poolAddress }) => poolAddress));
  const rows = await getPools(store, { chainId, addresses });
  const busy = rows.filter(wanted);
  if (busy.length > 0) {
    const rank = new Map(addresses.map((address, position) => [address, position]));
    return busy.sort((a, b) => (rank.get(a.poolAddress) ?? 0) - (rank.get(b.poolAddress) ?? 0));
  }
  const young = await Promise.all(
    [...kinds].map((protocol) =>
      store.find(pools, {
        filter: { chainId, protocol },
        order: [
          { field: "createdAt", direction: "desc" },
          { field: "poolAddress", direction: "desc" },
        ],
        limit: SAMPLE,
      }),
    ),
  );
  return young.flat().filter(wanted);
}

/** Wallets that hold or stake LP tokens: those of the last events, else any. */
async function findWallets(store: Store, chainId: number): Promise<string[]> {
  const isHolding = ({ position }: { position: string }) => {
    const { balance, staked } = positionText.read(position);
    return balance + staked > 0n;
  };
  const last = await store.find(lpEvents, {
    filter: { chainId },
    order: [
      { field: "blockNumber", direction: "desc" },
      { field: "logIndex", direction: "desc" },
      { field: "wallet", direction: "desc" },
    ],
    limit: SAMPLE,
    fields: ["wallet", "position"],
  });
  const busy = last.filter(isHolding);
  if (busy.length > 0) return byFrequency(busy.map(({ wallet }) => wallet));
  const any = await store.find(lpPositions, {
    filter: { chainId },
    limit: SAMPLE,
    fields: ["wallet", "position"],
  });
  return byFrequency(any.filter(isHolding).map(({ wallet }) => wallet));
}

/** Each once, the most frequent first. */
function byFrequency(values: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([value]) => value);
}
