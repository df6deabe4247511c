import { type PoolEventRow, type PoolRow, poolEvents } from "../store/collections.ts";
import { readPrices } from "../store/price-links.ts";
import { compareRows } from "./compare-rows.ts";
import type { Finding } from "./finding.ts";
import type { HourWindow } from "./hours.ts";
import { type PoolPass, type PoolScope, sampleInOrder } from "./scope.ts";

/** USD per token at the end of a block; absent where unknown. */
type UsdAt = ReadonlyMap<string, { readonly usd: number }>;

/** The prices of a block's rows against those that the price links give there. */
function comparePrices(pool: PoolRow, rows: readonly PoolEventRow[], usd: UsdAt): Finding[] {
  const expected = rows.map(({ blockNumber, chainId, logIndex }) => ({
    chainId,
    blockNumber,
    logIndex,
    price0Usd: usd.get(pool.token0Address)?.usd ?? null,
    price1Usd: usd.get(pool.token1Address)?.usd ?? null,
  }));
  return compareRows({ collection: poolEvents, pool: pool.poolAddress, stored: rows, expected });
}

/** price0Usd and price1Usd of the rows of some blocks of each hour. */
export function pricePass({ pick, pool, sampling, store }: PoolScope): PoolPass<HourWindow> {
  const tokens = [pool.token0Address, pool.token1Address];
  return {
    async window({ rows }) {
      const findings: Finding[] = [];
      const blocks = [...new Set(rows.map((row) => row.blockNumber))];
      for (const block of sampleInOrder(blocks, { size: sampling.pricedBlocks, pick })) {
        const usd = await readPrices(store, { chainId: pool.chainId, tokens, block });
        const own = rows.filter((row) => row.blockNumber === block);
        findings.push(...comparePrices(pool, own, usd));
      }
      return findings;
    },
  };
}
