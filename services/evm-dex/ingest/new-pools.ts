import type { PoolRow, TokenRow } from "../store/collections.ts";
import type { CreatedPool } from "./fetch.ts";
import type { TokenReader } from "./tokens.ts";

/** Rows of newly created pools and of tokens seen for the first time. `block` is one whose state nodes still have. */
export async function describePools(
  reader: TokenReader,
  of: { chainId: number; created: readonly CreatedPool[]; block: number },
): Promise<{ pools: PoolRow[]; tokens: TokenRow[] }> {
  const { chainId, created, block } = of;
  if (created.length === 0) return { pools: [], tokens: [] };
  const { all, fresh } = await reader.read(
    created.flatMap((pool) => [pool.token0, pool.token1]),
    block,
  );
  const pools = created.map((pool): PoolRow => {
    const token0 = all.get(pool.token0) as TokenRow;
    const token1 = all.get(pool.token1) as TokenRow;
    return {
      chainId,
      poolAddress: pool.pool,
      dexAddress: pool.factory.address,
      dexName: pool.factory.dexName,
      family: pool.factory.family,
      protocol: pool.factory.kind,
      token0Address: token0.address,
      token0Symbol: token0.symbol,
      token0Decimals: token0.decimals,
      token1Address: token1.address,
      token1Symbol: token1.symbol,
      token1Decimals: token1.decimals,
      createdAt: pool.time,
      createdBlock: pool.block,
      fee: pool.fee,
      tickSpacing: pool.tickSpacing,
      stable: pool.stable ?? false,
    };
  });
  return { pools, tokens: fresh };
}
