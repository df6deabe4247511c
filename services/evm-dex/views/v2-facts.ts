import type { ValuePrices } from "../../shared/pricing/value-prices.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";
import type { PoolCoverage } from "../metrics/pool-windows.ts";
import { type Rewards, rewardApr } from "../metrics/v2-apr.ts";
import { type V2Bucket, v2AmountsText } from "../metrics/v2-bucket.ts";
import { pairUsd } from "../metrics/v2-usd.ts";
import type { TokenPrice } from "../price/link.ts";
import { pairValues } from "../price/pair-values.ts";
import { curvePrice } from "../protocols/aerodrome-v2/price.ts";
import { holdingsOf, readV2State, type V2Holdings, type V2State } from "../protocols/aerodrome-v2/state.ts";
import { aerodromeV2 } from "../protocols/aerodrome-v2.ts";
import type { CheckpointRow, PoolRow } from "../store/collections.ts";
import { readPrices } from "../store/price-links.ts";
import { getPoolState, getTokens } from "../store/queries.ts";
import type { V2RollupRow } from "../store/v2-collections.ts";
import { readPastState } from "./past-state.ts";
import { createNoDataError, type ViewQuery } from "./view.ts";

/** The tokens that gauges pay, by the factory of their pools. */
export interface RewardTokens {
  /** Undefined where the factory's pools have no gauges. */
  tokenOf(pool: { readonly chainId: number; readonly dexAddress: string }): string | undefined;
  all(chainId: number): string[];
}

export function rewardTokens(chains: readonly ChainDeployments[]): RewardTokens {
  const byChain = new Map<number, Map<string, string>>();
  for (const { chainId, factories } of chains) {
    const byFactory = new Map<string, string>();
    for (const { address, rewards } of factories) {
      if (rewards !== undefined) byFactory.set(address, rewards.token);
    }
    byChain.set(chainId, byFactory);
  }
  return {
    tokenOf: ({ chainId, dexAddress }) => byChain.get(chainId)?.get(dexAddress),
    all: (chainId) => [...new Set(byChain.get(chainId)?.values())],
  };
}

/** Prices and decimals at the head. */
export interface TokenFacts {
  price(token: string): TokenPrice | undefined;
  decimals(token: string): number | undefined;
}

/** Value and rewards of a v2 pool at the head. */
interface V2Worth {
  /** Whole tokens. */
  readonly reserve0: number;
  readonly reserve1: number;
  readonly price0Usd: number | null;
  readonly price1Usd: number | null;
  /** What this pool's tokens are valued with (shared/pricing/value-prices.ts). */
  readonly values: ValuePrices;
  readonly tvlUsd: number | null;
  readonly rewardApr: number | null;
}

type PricedPool = Pick<
  PoolRow,
  "poolAddress" | "stable" | "token0Address" | "token1Address" | "token0Decimals" | "token1Decimals"
>;

/**
 * Value and rewards from a pool's holdings and the prices; `now` is the head's time. In literals of named fields: asked
 * for every position of a wallet (docs/decisions/0084).
 */
export function valueV2Pool(
  pool: PricedPool,
  at: { holdings: V2Holdings; tokens: TokenFacts; rewardToken: string | undefined; now: number },
): V2Worth {
  const { holdings, tokens } = at;
  const reserve0 = holdings.reserve0 / 10 ** pool.token0Decimals;
  const reserve1 = holdings.reserve1 / 10 ** pool.token1Decimals;
  const token0 = tokens.price(pool.token0Address);
  const token1 = tokens.price(pool.token1Address);
  const price = curvePrice({ amount0: reserve0, amount1: reserve1 }, pool.stable);
  const values = pairValues(pool.poolAddress, {
    amount0: reserve0,
    amount1: reserve1,
    token0,
    token1,
    price,
  });
  const tvlUsd = pairUsd({
    amount0: reserve0,
    amount1: reserve1,
    price0Usd: values.usd0,
    price1Usd: values.usd1,
  });
  return {
    reserve0,
    reserve1,
    price0Usd: token0?.usd ?? null,
    price1Usd: token1?.usd ?? null,
    values,
    tvlUsd,
    rewardApr: holdings.hasGauge ? rewardApr(rewardsOf(at, tvlUsd), at.now) : rewardApr(undefined, at.now),
  };
}

function rewardsOf(
  {
    holdings,
    tokens,
    rewardToken,
  }: { holdings: V2Holdings; tokens: TokenFacts; rewardToken: string | undefined },
  tvlUsd: number | null,
): Rewards {
  const decimals = rewardToken === undefined ? undefined : tokens.decimals(rewardToken);
  const share = holdings.totalSupply === 0 ? 0 : holdings.staked / holdings.totalSupply;
  return {
    // Without decimals there is no price either: any rate above 0 means that rewards run.
    rate: holdings.rewardRate / 10 ** (decimals ?? 0),
    periodFinish: holdings.periodFinish,
    priceUsd:
      rewardToken === undefined || decimals === undefined ? null : (tokens.price(rewardToken)?.usd ?? null),
    stakedUsd: tvlUsd === null ? null : tvlUsd * share,
  };
}

/** A v2 pool at the head. */
interface V2Facts extends V2Worth {
  readonly state: V2State;
}

/** Reads a pool at the head. Throws not_found where its state is not known yet. */
export async function readV2Facts(
  store: Store,
  { pool, checkpoint, isPast, rewardToken }: ViewQuery & { rewardToken: string | undefined },
): Promise<V2Facts> {
  const row = await (isPast ? readPastState(store, { pool, checkpoint }) : getPoolState(store, pool));
  const state = row === undefined ? stateWithoutEvents(pool, checkpoint) : readV2State(row.state);
  if (state === undefined) throw createNoDataError(pool, checkpoint);
  const tokens = await readTokenFacts(store, {
    checkpoint,
    addresses: [pool.token0Address, pool.token1Address, ...(rewardToken === undefined ? [] : [rewardToken])],
  });
  const worth = valueV2Pool(pool, {
    holdings: holdingsOf(state),
    tokens,
    rewardToken,
    now: checkpoint.blockTime,
  });
  return { state, ...worth };
}

/** The initial state of a pool that was created since the index began; undefined for an older one. */
export function stateWithoutEvents(pool: PoolRow, checkpoint: CheckpointRow): V2State | undefined {
  return pool.createdBlock >= checkpoint.fromBlock ? aerodromeV2.initialState(pool) : undefined;
}

export async function readTokenFacts(
  store: Store,
  { checkpoint, addresses }: { checkpoint: CheckpointRow; addresses: readonly string[] },
): Promise<TokenFacts> {
  const { chainId, blockNumber } = checkpoint;
  const [prices, rows] = await Promise.all([
    readPrices(store, { chainId, tokens: addresses, block: blockNumber }),
    getTokens(store, { chainId, addresses }),
  ]);
  const decimals = new Map(rows.map((row) => [row.address, row.decimals]));
  return {
    price: (token) => prices.get(token),
    decimals: (token) => decimals.get(token),
  };
}

export function coverageOf(pool: Pick<PoolRow, "createdAt">, checkpoint: CheckpointRow): PoolCoverage {
  return { createdAt: pool.createdAt, indexedFrom: checkpoint.fromTime };
}

export function toV2Bucket(row: V2RollupRow): V2Bucket & { start: number } {
  return { ...row, ...v2AmountsText.read(row.amounts) };
}

/** Identity and TVL: the first columns of v2 pool tables. */
export function v2Identity(
  pool: PricedPool & Pick<PoolRow, "token0Symbol" | "token1Symbol">,
  tvlUsd: number | null,
) {
  return {
    poolId: pool.poolAddress,
    token0: pool.token0Address,
    token0Symbol: pool.token0Symbol,
    token0Decimals: pool.token0Decimals,
    token1: pool.token1Address,
    token1Symbol: pool.token1Symbol,
    token1Decimals: pool.token1Decimals,
    poolTvlUsd: tvlUsd,
  };
}
