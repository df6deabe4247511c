import type { ChainDeployments } from "../deployments.ts";
import {
  type PoolListingRow,
  type PoolRow,
  poolListings,
  pools,
  type TokenRow,
} from "../store/collections.ts";
import { getTokens } from "../store/queries.ts";
import { compareRows } from "./compare-rows.ts";
import { compareValues, type Finding } from "./finding.ts";
import type { PoolScope } from "./scope.ts";

/** The rendered row of a pool list: its columns in the order of /openapi.json, the time as ISO 8601 in UTC. */
function cellsOf(pool: PoolRow): unknown[] {
  const createdAt = `${new Date(pool.createdAt * 1_000).toISOString().slice(0, 19)}+00:00`;
  return [
    ...[pool.chainId, pool.dexAddress, pool.dexName, pool.poolAddress],
    ...[pool.token0Address, pool.token0Symbol, pool.token0Decimals],
    ...[pool.token1Address, pool.token1Symbol, pool.token1Decimals],
    ...[createdAt, pool.fee, pool.tickSpacing],
  ];
}

/** A pool's listings against its row. */
function compareListing(pool: PoolRow, listings: readonly PoolListingRow[]): Finding[] {
  const { createdBlock: _block, protocol: _protocol, stable: _stable, ...columns } = pool;
  return compareRows({
    collection: poolListings,
    pool: pool.poolAddress,
    stored: listings,
    expected: [{ ...columns, cells: JSON.stringify(cellsOf(pool)) }],
  });
}

/** A pool's tokens against their rows. */
function compareTokens(pool: PoolRow, tokens: readonly TokenRow[]): Finding[] {
  const { chainId, poolAddress } = pool;
  const find = (address: string) => tokens.find((token) => token.address === address);
  const [token0, token1] = [find(pool.token0Address), find(pool.token1Address)];
  return compareRows({
    collection: pools,
    pool: poolAddress,
    stored: [pool],
    expected: [
      {
        chainId,
        poolAddress,
        token0Symbol: token0?.symbol ?? "no row in tokens",
        token0Decimals: token0?.decimals ?? -1,
        token1Symbol: token1?.symbol ?? "no row in tokens",
        token1Decimals: token1?.decimals ?? -1,
      },
    ],
  });
}

/** A pool's name, family and kind against its factory's in the registry; not to be had for an unknown factory. */
function compareFactory(pool: PoolRow, deployments: ChainDeployments | undefined): Finding[] {
  const factory = deployments?.factories.find(({ address }) => address === pool.dexAddress);
  const place = { pool: pool.poolAddress, at: "" };
  return [
    compareValues(place, { field: "pools.dexName", stored: pool.dexName, expected: factory?.dexName }),
    compareValues(place, { field: "pools.family", stored: pool.family, expected: factory?.family }),
    compareValues(place, { field: "pools.protocol", stored: pool.protocol, expected: factory?.kind }),
  ];
}

/** A pool against its tokens, its listing and its factory. */
export async function checkListing({ deployments, pool, store }: PoolScope): Promise<Finding[]> {
  const { chainId, poolAddress } = pool;
  const addresses = [pool.token0Address, pool.token1Address];
  const listings = await store.find(poolListings, { filter: { chainId, family: pool.family, poolAddress } });
  return [
    ...compareListing(pool, listings),
    ...compareTokens(pool, await getTokens(store, { chainId, addresses })),
    ...compareFactory(pool, deployments),
  ];
}
