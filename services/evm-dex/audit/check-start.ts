import { toWholeTokens } from "../metrics/pool-price.ts";
import {
  type InactivePoolRow,
  inactivePools,
  type PoolRow,
  type PriceStartRow,
  priceLinks,
  priceStarts,
} from "../store/collections.ts";
import { getPools } from "../store/queries.ts";
import { compareValues, type Finding, requireThat } from "./finding.ts";
import type { ChainScope } from "./scope.ts";
import { type SlowPrice, slowPrices } from "./slow-prices.ts";
import { startEdge } from "./start-edge.ts";

/** USD of a priced token in a pool from which on the start of prices reads it. Source: docs/real-chains.md. */
const READ_FROM_USD = 1_000;

/** The start of prices: the block before the first one, read once, before anything was indexed. */
export async function checkStart(scope: ChainScope): Promise<Finding[]> {
  const { chainId, checkpoint, rpc, store } = scope;
  const before = checkpoint.fromBlock - 1;
  const start = await store.get(priceStarts, { chainId });
  const place = { pool: "", at: `block ${before}` };
  const isDue = before >= 0;
  if (start === undefined)
    return [
      requireThat(place, { field: "price_starts (row)", holds: !isDue, stored: "no row", rule: "a row" }),
    ];
  const { blockHash, blockNumber, isComplete, time } = start;
  const [link] = await store.find(priceLinks, { filter: { chainId, blockNumber: before }, limit: 1 });
  const [block] = rpc === undefined ? [] : await rpc.blocks([before]);
  return [
    compareValues(place, { field: "price_starts.blockNumber", stored: blockNumber, expected: before }),
    compareValues(place, { field: "price_starts.time", stored: time, expected: link?.time }),
    requireThat(place, {
      field: "price_starts.isComplete",
      holds: isComplete,
      stored: isComplete,
      rule: "true",
    }),
    ...(block === undefined || block === null
      ? []
      : [
          compareValues(place, { field: "price_starts.blockHash", stored: blockHash, expected: block.hash }),
          compareValues(place, { field: "price_starts.time", stored: time, expected: block.time }),
        ]),
    ...(await checkPriced(scope, start)),
  ];
}

/** Which pools were to be read for the first prices: those that hold enough of a token priced over the others. */
async function checkPriced(
  { chainId, deployments, store }: ChainScope,
  { time }: PriceStartRow,
): Promise<Finding[]> {
  const rows = await store.find(inactivePools, { filter: { chainId } });
  const known = await getPools(store, { chainId, addresses: rows.map(({ poolAddress }) => poolAddress) });
  const poolOf = new Map(known.map((pool) => [pool.poolAddress, pool]));
  const edges = rows.flatMap((row) => {
    const pool = poolOf.get(row.poolAddress);
    const edge = row.priced && pool !== undefined ? startEdge(pool, { row, time }) : undefined;
    return edge ?? [];
  });
  const anchors = deployments?.stablecoins ?? [];
  const options = { anchors, before: new Map(), now: time, leastDepthUsd: READ_FROM_USD };
  const prices = slowPrices(edges, options);
  return rows.flatMap((row) => {
    const pool = poolOf.get(row.poolAddress);
    return pool === undefined || anchors.length === 0 ? [] : comparePriced({ pool, row, prices });
  });
}

/** Sure where all sides with a price are worth it, or none is: which one was looked at does not matter then. */
function comparePriced(at: {
  pool: PoolRow;
  row: InactivePoolRow;
  prices: ReadonlyMap<string, SlowPrice>;
}): Finding[] {
  const { pool, row, prices } = at;
  const sides = [
    { token: pool.token0Address, amount: toWholeTokens(row.balance0, pool.token0Decimals) },
    { token: pool.token1Address, amount: toWholeTokens(row.balance1, pool.token1Decimals) },
  ].flatMap(({ token, amount }) => {
    const usd = prices.get(token)?.usd;
    return usd === undefined ? [] : [amount * usd >= READ_FROM_USD];
  });
  const expected = sides.includes(true);
  if (sides.includes(true) && sides.includes(false)) return [];
  return [
    requireThat(
      { pool: pool.poolAddress, at: `block ${row.balanceBlock}` },
      {
        field: "quiet_pools.priced",
        holds: row.priced === expected,
        stored: row.priced,
        rule: `${expected}, by what it holds`,
      },
    ),
  ];
}
