import fc from "fast-check";
import { trustedPrice } from "../../../shared/pricing/median.ts";
import { ageShare, heldShare } from "../../../shared/pricing/vote-share.ts";
import type { PoolEntry } from "../../ingest/state/pool-book.ts";
import { pointOf } from "../../ingest/state/pool-prices.ts";
import type { PoolPoint } from "../../ingest/state/watched-pool.ts";
import type { PriceEdge } from "../../price/edges.ts";
import type { MarkedPrices } from "../../price/graph.ts";
import type { TokenPrice } from "../../price/link.ts";
import { DEFAULT_RULES } from "../../price/walk-rules.ts";
import { EMPTY_STATE } from "../../protocols/v3/state.ts";
import { address, poolEntry, poolRow } from "../kit/rows.ts";
import { type NaiveMemory, NO_MEMORY, naiveWalk } from "./naive-walk.ts";

export const USDC = address(0xa0);
const TOKENS = [USDC, address(0xa1), address(0xa2), address(0xa3), address(0xa4)];
const Q96 = 2n ** 96n;

/** A pool of two 18-decimals tokens with the reserves and the price (token1 per token0), all its liquidity around it. */
export function entryOf(
  n: number,
  {
    tokens,
    price,
    reserves,
  }: { tokens: readonly [string, string]; price?: number; reserves?: readonly [number, number] },
): PoolEntry {
  const [token0Address, token1Address] = tokens;
  const row = poolRow({
    poolAddress: address(0x900 + n),
    token0Address,
    token1Address,
    token0Decimals: 18,
    token1Decimals: 18,
  });
  const entry = poolEntry({ row });
  if (price !== undefined) setState(entry, { price, reserves: reserves ?? [1e6, 1e6] });
  return entry;
}

const raw = (whole: number) => BigInt(Math.round(whole * 1e6)) * 10n ** 12n;

export function setState(
  entry: PoolEntry,
  { price, reserves }: { price: number; reserves: readonly [number, number] },
): void {
  entry.state = {
    ...EMPTY_STATE,
    sqrtPriceX96: (Q96 * BigInt(Math.round(Math.sqrt(price) * 1e9))) / 10n ** 9n,
    // So much that the reserves are what limits depth.
    liquidity: 10n ** 36n,
    reserve0: raw(reserves[0]),
    reserve1: raw(reserves[1]),
  };
}

/** When all pools were created. */
export const CREATED = 1_700_000_000;

export interface Block {
  readonly seconds: number;
  readonly touched: readonly {
    readonly at: number;
    readonly price: number;
    readonly reserves: readonly [number, number];
  }[];
}

/** Pools between random tokens, and blocks that touch up to three of them; depths on both sides of the minimum. */
export const anyPairs = fc.array(
  fc
    .tuple(fc.nat(TOKENS.length - 1), fc.nat(TOKENS.length - 2))
    .map(
      ([first, second]) => [TOKENS[first], TOKENS[second < first ? second : second + 1]] as [string, string],
    ),
  { minLength: 1, maxLength: 8 },
);
export const anyReserve = fc.constantFrom(10, 5_000, 9_000, 20_000, 1e6);
export const anyBlock: fc.Arbitrary<Block> = fc.record({
  seconds: fc.constantFrom(0, 2, 12, 100, 151, 400),
  touched: fc.array(
    fc.record({
      at: fc.nat(7),
      price: fc.constantFrom(0.5, 1, 1.05, 2, 9),
      reserves: fc.tuple(anyReserve, anyReserve),
    }),
    { maxLength: 3 },
  ),
});

/** Every pool's points since the start, and prices by the naive walk over all pools at every block. */
export class PoolModel {
  readonly #points = new Map<PoolEntry, PoolPoint[]>();
  #memory: NaiveMemory = NO_MEMORY;

  close(touched: Iterable<PoolEntry>, now: number): Map<string, TokenPrice> {
    for (const entry of touched) {
      const before = (this.#points.get(entry) ?? []).filter(({ time }) => time !== now);
      this.#points.set(entry, [...before, pointOf(entry, now) as PoolPoint]);
    }
    const edges = [...this.#points].map(([{ row, lastTime }, points]): PriceEdge => {
      const { depth0, depth1 } = points.at(-1) as PoolPoint;
      return {
        ...{ pool: row.poolAddress, token0: row.token0Address, token1: row.token1Address, depth0, depth1 },
        price: trustedPrice(points, now),
        held: heldShare(windowOf(points, now), now),
        aged: ageShare(lastTime - row.createdAt),
        lastTime,
      };
    });
    const walked = naiveWalk(edges, { anchors: [USDC], rules: DEFAULT_RULES, before: this.#memory, now });
    this.#memory = walked.memory;
    return walked.prices;
  }

  marked(now: number): MarkedPrices {
    return { now, usd: this.#memory.markedUsd };
  }

  /** Returns what goes back to the points and prices that are here now. */
  remember(): () => void {
    const [points, memory] = [new Map(this.#points), this.#memory];
    return () => {
      this.#points.clear();
      for (const [entry, list] of points) this.#points.set(entry, list);
      this.#memory = memory;
    };
  }

  /** As rows hold them. */
  stored(): [PoolEntry, PoolPoint[]][] {
    return [...this.#points].map(([entry, points]) => [entry, [...points]]);
  }
}

/** The points of the last five minutes and the one before them. */
function windowOf(points: readonly PoolPoint[], now: number): PoolPoint[] {
  return points.filter((_, i) => (points[i + 1]?.time ?? Number.POSITIVE_INFINITY) > now - 300);
}

export function touchPools(entries: readonly PoolEntry[], { touched }: Block, time: number): Set<PoolEntry> {
  const chosen = new Set<PoolEntry>();
  for (const { at, price, reserves } of touched) {
    const entry = entries[at % entries.length] as PoolEntry;
    setState(entry, { price, reserves });
    entry.lastTime = time;
    chosen.add(entry);
  }
  return chosen;
}
