import { createRandom } from "../../deploy/devnet/random.ts";
import type { BlockEvents, PlacedEvent } from "../../services/evm-dex/ingest/state/indexer.ts";
import type { V3Event } from "../../services/evm-dex/protocols/v3/events.ts";
import type { V3State } from "../../services/evm-dex/protocols/v3/state.ts";
import type { PoolRow } from "../../services/evm-dex/store/collections.ts";
import { makeGraph, type SyntheticGraph } from "./graph.ts";

export const CHAIN_ID = 8453;
/** Block time of Base, seconds. */
export const BLOCK_SECONDS = 2;
/** Of the swaps, so many are the first of their sender in their pool. */
const NEW_USERS = 0.2;
const E18 = 1e18;

export const hex = (n: number, bytes: number): string => `0x${n.toString(16).padStart(2 * bytes, "0")}`;

/** Addresses spread as hashes are: a book of pools must not profit from their order. */
export function spreadAddress(n: number, kind: number): string {
  let text = "";
  for (let word = 0; word < 5; word++) {
    let x = (n * 5 + word) ^ Math.imul(kind + 1, 0x9e3779b1);
    x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
    x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
    text += ((x ^ (x >>> 16)) >>> 0).toString(16).padStart(8, "0");
  }
  return `0x${text}`;
}

/** The n-th user of the n-th pool; some thousand wallets trade everywhere. */
export function userOf(pool: number, user: number): string {
  return user % 3 === 0
    ? spreadAddress((pool * 31 + user) % 4_000, 7)
    : spreadAddress(pool * 9_973 + user, 8);
}

/** Pools of which some have had events, each as a swap leaves it; those with events come first, deepest first. */
export interface PoolMarket {
  readonly known: number;
  readonly active: number;
  readonly graph: SyntheticGraph;
  row(pool: number): PoolRow;
  state(pool: number): V3State;
}

export function createMarket({ known, active }: { known: number; active: number }): PoolMarket {
  const graph = makeGraph({
    pools: active,
    deep: Math.ceil(active / 17),
    tokens: Math.ceil(active / 85) + 50,
  });
  return {
    known,
    active,
    graph,
    row(pool) {
      const edge = graph.edges[pool % active];
      if (edge === undefined) throw new RangeError(`There is no pool ${pool}.`);
      return {
        chainId: CHAIN_ID,
        poolAddress: spreadAddress(pool, 0),
        dexAddress: hex(0xfac, 20),
        dexName: "Uniswap V3",
        family: "dexb",
        protocol: "uniswap-v3",
        token0Address: edge.token0,
        token0Symbol: `T${pool % 9_999}`,
        token0Decimals: 18,
        token1Address: edge.token1,
        token1Symbol: "WETH",
        token1Decimals: 18,
        createdAt: 1_600_000_000 + pool,
        createdBlock: 1_000 + pool,
        fee: 3_000,
        tickSpacing: 60,
        stable: false,
      };
    },
    state: (pool) => stateAt(graph, pool, 1),
  };
}

/** A full-range position: reserves are the depths. `factor` moves the price. */
function stateAt(graph: SyntheticGraph, pool: number, factor: number): V3State {
  const edge = graph.edges[pool];
  if (edge === undefined) throw new RangeError(`Pool ${pool} has had no events.`);
  const root = Math.sqrt(edge.price * factor);
  const liquidity = Math.max(1, Math.min(edge.depth0 * root, 1e50) * E18);
  return {
    sqrtPriceX96: BigInt(Math.max(1, Math.floor(root * 2 ** 96))),
    liquidity: BigInt(Math.floor(liquidity)),
    tick: Math.max(-887_000, Math.min(887_000, Math.floor(Math.log(edge.price * factor) / Math.log(1.0001)))),
    reserve0: BigInt(Math.floor(Math.min(edge.depth0, 1e50) * E18)),
    reserve1: BigInt(Math.floor(Math.min(edge.depth1, 1e50) * E18)),
    feeProtocol: 0,
  };
}

/** Which pool trades: each pool half as often as the one of half its rank (Zipf), as pools of a DEX do. */
export function zipfPool(active: number, next: () => number): number {
  return Math.min(active - 1, Math.floor(active ** next()) - 1);
}

/**
 * Swaps after the stored history, block by block: skewed over pools, one in five by a sender that the pool has not
 * seen, the others by recent ones.
 * @param usersOf how many users a pool has already
 */
export function* streamBlocks(
  market: PoolMarket,
  options: {
    from: { number: number; time: number };
    perBlock: number;
    branch?: number;
    usersOf: (pool: number) => number;
  },
): Generator<BlockEvents & { readonly parentHash: string }> {
  const { from, perBlock, branch = 0, usersOf } = options;
  const random = createRandom(77 + branch + from.number);
  const users = new Map<number, number>();
  for (let n = 1; ; n++) {
    const number = from.number + n;
    const events: PlacedEvent[] = [];
    for (let logIndex = 0; logIndex < perBlock; logIndex++) {
      const pool = zipfPool(market.active, random.next);
      const count = users.get(pool) ?? usersOf(pool);
      const isNew = count === 0 || random.next() < NEW_USERS;
      users.set(pool, count + (isNew ? 1 : 0));
      const user = isNew ? count : Math.floor(count * (1 - random.next() ** 3));
      events.push({
        logIndex,
        txHash: hex(number * 1_000 + logIndex, 32),
        sender: userOf(pool, user),
        poolAddress: spreadAddress(pool, 0),
        event: swapOf(market, pool, random.next),
      });
    }
    yield {
      number,
      hash: blockHash(number, branch),
      parentHash: blockHash(number - 1, n === 1 ? 0 : branch),
      time: from.time + BLOCK_SECONDS * n,
      events,
    };
  }
}

export function blockHash(number: number, branch = 0): string {
  return `0x${branch.toString(16).padStart(8, "0")}${number.toString(16).padStart(56, "0")}`;
}

function swapOf(market: PoolMarket, pool: number, next: () => number): V3Event {
  const { sqrtPriceX96, liquidity, tick, reserve0, reserve1 } = stateAt(
    market.graph,
    pool,
    1 + 0.002 * (next() - 0.5),
  );
  const isIn = next() < 0.5;
  const [part0, part1] = [reserve0 / 2_000n, reserve1 / 2_000n];
  return {
    kind: "swap",
    amount0: isIn ? part0 : -part0,
    amount1: isIn ? -part1 : part1,
    sqrtPriceX96,
    liquidity,
    tick,
  };
}
