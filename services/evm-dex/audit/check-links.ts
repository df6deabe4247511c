import { protocolOf } from "../protocols/index.ts";
import {
  feedAnswers,
  inactivePools,
  type PoolRow,
  type PoolStateRow,
  type PriceLinkRow,
  type PriceStartRow,
  poolEvents,
  poolStates,
  priceLinks,
  priceStarts,
} from "../store/collections.ts";
import { readPrices } from "../store/price-links.ts";
import { eventsSince, getPools, lastEventUpTo } from "../store/queries.ts";
import { isClose } from "./compare-rows.ts";
import { compareNullable, type Finding, requireThat } from "./finding.ts";
import { markBefore, pricesBefore } from "./prices-before.ts";
import { type ChainScope, sampleRows } from "./scope.ts";
import { type SlowEdge, type SlowPrice, slowPrices } from "./slow-prices.ts";
import { ageShareAt, startEdge } from "./start-edge.ts";
import { heldShareAt, MEDIAN_SECONDS, type Point, trustedPriceAt } from "./trusted-price.ts";

/** A block with events. */
interface EventBlock {
  readonly blockNumber: number;
  readonly time: number;
}

/** The links in force at the end of a block against the prices computed anew. */
function compareLinks(
  block: EventBlock,
  links: ReadonlyMap<string, PriceLinkRow>,
  prices: ReadonlyMap<string, SlowPrice>,
): Finding[] {
  const findings: Finding[] = [];
  for (const token of new Set([...links.keys(), ...prices.keys()])) {
    const link = links.get(token);
    const expected = prices.get(token);
    const place = { pool: link?.pool ?? "", at: `token ${token}, block ${block.blockNumber}` };
    const isPriced = link !== undefined && (link.pool !== "" || link.price > 0);
    findings.push(
      compareNullable(place, {
        field: "price_links (row)",
        stored: isPriced ? "a price" : "no price",
        expected: expected === undefined ? "no price" : "a price",
      }),
    );
    if (link !== undefined) findings.push(...compareColumns(link, { expected: expected ?? NO_PRICE, place }));
  }
  return findings;
}

function compareColumns(
  link: PriceLinkRow,
  { expected, place }: { expected: SlowPrice; place: Pick<Finding, "pool" | "at"> },
): Finding[] {
  const { usd, ...columns } = expected;
  const values = columns.pool === "" ? { ...columns, price: usd } : columns;
  return Object.entries(values).map(([name, value]) => {
    const stored = link[name as keyof PriceLinkRow];
    const isEqual = typeof value === "number" ? isClose(stored, value) : stored === value;
    return compareNullable(place, {
      field: `price_links.${name}`,
      stored,
      expected: isEqual ? stored : value,
    });
  });
}

const NO_PRICE: SlowPrice = {
  ...{ usd: 0, hops: 0, parent: "", pool: "", side: 0, price: 0 },
  ...{ deepestPool: "", depthUsd: 0, restUsd: 0, departedAt: null, departedUsd: null },
  agreedUsd: null,
};

/**
 * Price links: the anchors' from before the first block, the time of a sample of links, and at the end of some blocks
 * every link against the prices of all pools there, computed anew.
 */
export async function checkLinks(scope: ChainScope): Promise<Finding[]> {
  const { chainId, checkpoint, deployments, kept, store } = scope;
  const { fromBlock } = checkpoint;
  const isWhole = kept.events.block < fromBlock;
  const first = await store.find(priceLinks, { filter: { chainId, blockNumber: fromBlock - 1 } });
  const anchors =
    deployments?.stablecoins ?? first.filter(({ pool }) => pool === "").map(({ token }) => token);
  const place = { pool: "", at: `block ${fromBlock - 1}` };
  const missing = anchors.filter((token) => !first.some((link) => link.token === token));
  const findings = [
    requireThat(place, {
      field: "price_links (row)",
      holds: !isWhole || (missing.length === 0 && first.length > 0),
      stored: first.map(({ token }) => token).join(),
      rule: "a link of every stablecoin before the first block",
    }),
  ];
  const times = new Set(first.map(({ time }) => time));
  findings.push(
    requireThat(place, {
      field: "price_links.time",
      holds: times.size <= 1,
      stored: [...times].join(),
      rule: "one time",
    }),
  );
  const filter = { chainId, blockNumber: { gte: Math.max(fromBlock, kept.events.block) } };
  for (const link of await sampleRows(scope, priceLinks, { filter, by: "blockNumber" })) {
    const [event] = await store.find(poolEvents, {
      filter: { chainId, blockNumber: link.blockNumber },
      limit: 1,
    });
    const at = { pool: link.pool, at: `token ${link.token}, block ${link.blockNumber}` };
    const expected = event?.time ?? "no events in this block";
    findings.push(compareNullable(at, { field: "price_links.time", stored: link.time, expected }));
  }
  const start = await store.get(priceStarts, { chainId });
  const blocks = [...(start === undefined || !isWhole ? [] : [start]), ...(await chooseBlocks(scope))];
  for (const block of blocks) findings.push(...(await checkBlock(scope, { block, anchors, start })));
  return findings;
}

/** Blocks with events: the last one, or all where everything is checked. */
async function chooseBlocks({
  chainId,
  checkpoint,
  kept,
  sampling,
  store,
}: ChainScope): Promise<EventBlock[]> {
  const rows = await store.find(poolEvents, {
    filter: { chainId, blockNumber: { gte: kept.events.block, lte: checkpoint.blockNumber } },
    order: [
      { field: "blockNumber", direction: "desc" },
      { field: "logIndex", direction: "desc" },
    ],
    ...(Number.isFinite(sampling.rows) && { limit: 1 }),
    fields: ["blockNumber", "time"],
  });
  return [...new Map(rows.map((row) => [row.blockNumber, row])).values()];
}

async function checkBlock(
  scope: ChainScope,
  at: { block: EventBlock; anchors: readonly string[]; start: PriceStartRow | undefined },
): Promise<Finding[]> {
  const { chainId, store } = scope;
  const { anchors, block, start } = at;
  const { blockNumber } = block;
  const states = await store.find(poolStates, { filter: { chainId } });
  const stateOf = new Map(states.map((state) => [state.poolAddress, state]));
  const older = await store.find(inactivePools, { filter: { chainId, priced: true } });
  const olderOf = new Map(older.map((row) => [row.poolAddress, row]));
  const known = await getPools(store, {
    chainId,
    addresses: [...new Set([...stateOf.keys(), ...olderOf.keys()])],
  });
  const edges: SlowEdge[] = [];
  for (const pool of known) {
    const state = stateOf.get(pool.poolAddress);
    const row = olderOf.get(pool.poolAddress);
    const edge =
      (state && (await edgeAt(scope, { pool, state, block }))) ??
      (row && start && startEdge(pool, { row, time: start.time }));
    if (edge !== undefined) edges.push(edge);
  }
  const tokens = [
    ...new Set([...anchors, ...known.flatMap((pool) => [pool.token0Address, pool.token1Address])]),
  ];
  const inForce = async (at: number) =>
    new Map(
      (
        await store.getLast(
          priceLinks,
          tokens.map((token) => ({ chainId, token, blockNumber: at })),
        )
      ).map((link) => [link.token, link]),
    );
  const mark = markBefore(block.time);
  const before = pricesBefore({
    used: await readPrices(store, { chainId, tokens, block: blockNumber - 1 }),
    marked: await usdBefore(scope, { time: mark, tokens }),
    links: await inForce(blockNumber - 1),
    mark,
  });
  return compareLinks(
    block,
    await inForce(blockNumber),
    slowPrices(edges, { anchors, before, feeds: await feedsAt(scope, block), now: block.time }),
  );
}

/** Prices at the end of the last block before a second that has links. */
async function usdBefore(
  { chainId, store }: ChainScope,
  { time, tokens }: { time: number; tokens: readonly string[] },
): Promise<ReadonlyMap<string, { readonly usd: number }>> {
  const [last] = await store.find(priceLinks, {
    filter: { chainId, time: { lt: time } },
    order: [{ field: "blockNumber", direction: "desc" }],
    limit: 1,
  });
  return last === undefined ? new Map() : readPrices(store, { chainId, tokens, block: last.blockNumber });
}

/** A feed that is silent for longer, or says this much, does not count. Source: docs/real-chains.md. */
const FEED_SECONDS = 25 * 3_600;
const FEED_USD = 10;

/** What feeds that count say at a block. */
async function feedsAt({ chainId, store }: ChainScope, block: EventBlock): Promise<Map<string, number>> {
  const answers = await store.find(feedAnswers, {
    filter: { chainId, blockNumber: { lte: block.blockNumber } },
    order: [{ field: "blockNumber", direction: "asc" }],
  });
  const last = new Map(answers.map((answer) => [answer.token, answer]));
  return new Map(
    [...last.values()]
      .filter(({ usd, updatedAt }) => usd > 0 && usd < FEED_USD && block.time - updatedAt <= FEED_SECONDS)
      .map(({ token, usd }) => [token, usd]),
  );
}

/** A pool at the end of a block; undefined before its first event or price. */
async function edgeAt(
  { chainId, store }: ChainScope,
  { block, pool, state }: { pool: PoolRow; state: PoolStateRow; block: EventBlock },
): Promise<SlowEdge | undefined> {
  const { blockNumber, time } = block;
  const key = { chainId, poolAddress: pool.poolAddress };
  const since = time - MEDIAN_SECONDS;
  // Most pools had no event of late: their state now is the one then.
  const isCalm = state.lastBlock >= 0 && state.lastTime <= since && state.lastBlock <= blockNumber;
  const before = isCalm
    ? { state: state.state, time: state.lastTime }
    : await lastEventUpTo(store, { ...key, block: blockNumber, time: since });
  const recent = isCalm ? [] : await eventsSince(store, { ...key, time: since + 1, before: time + 1 });
  const rows = [
    ...(before === undefined ? [] : [before]),
    ...recent.filter((row) => row.blockNumber <= blockNumber),
  ];
  const last = rows.at(-1);
  if (last === undefined) return undefined;
  const protocol = protocolOf(pool.protocol);
  const texts = new Map(before === undefined ? [[0, state.anchor]] : []);
  for (const row of rows) texts.set(row.time, row.state);
  const points = [...texts].flatMap(([at, text]): Point[] => {
    const price = protocol.price(protocol.read(text), pool);
    if (price === undefined) return [];
    const { amount0, amount1 } = protocol.depth(protocol.read(text), pool);
    return [{ time: at, price, depth0: amount0, depth1: amount1 }];
  });
  const now = protocol.depth(protocol.read(last.state), pool);
  const price = trustedPriceAt(points, time);
  if (price === undefined) return undefined;
  const { poolAddress, token0Address, token1Address } = pool;
  return {
    ...{ pool: poolAddress, token0: token0Address, token1: token1Address, price },
    ...{ depth0: now.amount0, depth1: now.amount1 },
    held: heldShareAt(points, time),
    aged: ageShareAt(last.time, pool),
    lastTime: last.time,
  };
}
