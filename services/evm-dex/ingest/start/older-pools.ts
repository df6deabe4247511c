import type { Store } from "../../../shared/storage/port.ts";
import { toWholeTokens } from "../../metrics/pool-price.ts";
import { DEFAULT_RULES } from "../../price/walk-rules.ts";
import { protocolOf } from "../../protocols/index.ts";
import { type InactivePoolRow, type PoolRow, pools } from "../../store/collections.ts";
import { getInactivePools, getPools } from "../../store/queries.ts";
import type { GaugeBook } from "../state/gauge-book.ts";
import { type PoolEntry, toInactiveEntry } from "../state/pool-book.ts";
import { PoolPrices, pointOf } from "../state/pool-prices.ts";
import type { StateReader } from "./state-reader.ts";

/**
 * Pools with a tenth of the minimum depth are read too: a token that becomes ten times as dear gives its pools the
 * minimum without an event of theirs.
 */
const READ_RULES = { ...DEFAULT_RULES, minDepthUsd: DEFAULT_RULES.minDepthUsd / 10 };
/** Pools looked at together. */
const PAGE = 5_000;

const TESTED_FIELDS = [
  "poolAddress",
  "createdBlock",
  "token0Address",
  "token0Decimals",
  "token1Address",
  "token1Decimals",
] as const;
type TestedPool = Pick<PoolRow, (typeof TESTED_FIELDS)[number]>;

export interface OlderPoolsContext {
  readonly store: Store;
  readonly reader: StateReader;
  readonly gauges: GaugeBook;
  readonly chainId: number;
  readonly anchors: readonly string[];
  /** The block before the first indexed one. */
  readonly start: { readonly blockNumber: number; readonly time: number };
  readonly signal: AbortSignal;
  /** Stores states as they are read. */
  readonly save: (rows: readonly InactivePoolRow[]) => Promise<void>;
}

/**
 * The pools older than the index that may have the depth to price a token, with their states. In rounds: what each
 * pool of a newly priced token holds of it, one call a pool; the whole state of those that hold enough; the prices
 * that follow. No vote of the walk can be missed, since a pool is never deeper than its holdings of the token it is
 * walked from. States that a killed run has stored are not read again.
 */
export async function readOlderPools(context: OlderPoolsContext): Promise<PoolEntry[]> {
  const { anchors, start, signal } = context;
  const prices = new PoolPrices(anchors, { rules: READ_RULES });
  const entries: PoolEntry[] = [];
  const priced = new Set<string>();
  let fresh = new Set(anchors);
  while (fresh.size > 0) {
    for await (const page of listPoolsOf(context, { fresh, priced })) {
      signal.throwIfAborted();
      const deep = await selectDeep(context, { page, fresh, prices });
      entries.push(...(await readEntries(context, deep)));
    }
    for (const entry of entries) {
      const point = pointOf(entry, 0);
      if (point !== undefined) prices.loadPool(entry, [point], start.time);
    }
    prices.graph.update(start.time);
    for (const token of fresh) priced.add(token);
    fresh = new Set(prices.graph.tokens().filter((token) => !priced.has(token)));
  }
  return entries;
}

/** Pools of newly priced tokens that hold none of those priced before: they have been looked at. */
async function* listPoolsOf(
  { store, chainId, start }: OlderPoolsContext,
  { fresh, priced }: { fresh: ReadonlySet<string>; priced: ReadonlySet<string> },
): AsyncGenerator<TestedPool[]> {
  for (let after = ""; ; ) {
    const page = await store.find(pools, {
      filter: { chainId, poolAddress: { gt: after } },
      limit: PAGE,
      fields: TESTED_FIELDS,
    });
    const found = page.filter(({ createdBlock, token0Address, token1Address }) => {
      const tokens = [token0Address, token1Address];
      const isNew = tokens.some((token) => fresh.has(token)) && !tokens.some((token) => priced.has(token));
      return isNew && createdBlock <= start.blockNumber;
    });
    if (found.length > 0) yield found;
    if (page.length < PAGE) return;
    after = page.at(-1)?.poolAddress as string;
  }
}

async function selectDeep(
  { reader }: OlderPoolsContext,
  { page, fresh, prices }: { page: readonly TestedPool[]; fresh: ReadonlySet<string>; prices: PoolPrices },
): Promise<string[]> {
  const tested = page.map((pool) =>
    fresh.has(pool.token0Address)
      ? { pool: pool.poolAddress, token: pool.token0Address, decimals: pool.token0Decimals }
      : { pool: pool.poolAddress, token: pool.token1Address, decimals: pool.token1Decimals },
  );
  const balances = await reader.readBalances(tested);
  return tested.flatMap(({ pool, token, decimals }, i) => {
    const heldUsd = toWholeTokens(balances[i] ?? 0n, decimals) * (prices.usd(token) ?? 0);
    return heldUsd >= READ_RULES.minDepthUsd ? [pool] : [];
  });
}

async function readEntries(context: OlderPoolsContext, addresses: readonly string[]): Promise<PoolEntry[]> {
  const { store, chainId, reader, gauges, start } = context;
  if (addresses.length === 0) return [];
  const rows = await getPools(store, { chainId, addresses });
  const stored = new Map(
    (await getInactivePools(store, { chainId, addresses })).map((row) => [row.poolAddress, row]),
  );
  const unread = rows.filter((row) => !stored.has(row.poolAddress));
  const read = await reader.readStates(
    unread.map((row) => ({ row, gauge: gauges.at(row.poolAddress, start.blockNumber) })),
  );
  const added = unread.flatMap(({ poolAddress, protocol }, i): InactivePoolRow[] => {
    const past = read[i];
    if (past === undefined) return [];
    const state = protocolOf(protocol).write(past.state);
    const { amount0: balance0, amount1: balance1 } = past.balances;
    const balanceBlock = reader.block.number;
    return [{ chainId, poolAddress, state, balance0, balance1, balanceBlock, priced: true }];
  });
  if (added.length > 0) await context.save(added);
  for (const row of added) stored.set(row.poolAddress, row);
  return rows.flatMap((row) => {
    const state = stored.get(row.poolAddress);
    return state === undefined ? [] : [toInactiveEntry(row, state, start)];
  });
}
