import fc from "fast-check";
import type { Store } from "../../../shared/storage/port.ts";
import type { Detail } from "../../ingest/state/detail.ts";
import type { BlockEvents, Indexer } from "../../ingest/state/indexer.ts";
import { loadIndexer } from "../../ingest/state/load-indexer.ts";
import { startSteps, writeProgress } from "../../ingest/write.ts";
import type { PoolEvent } from "../../protocols/protocol.ts";
import type { LiquidityEvent, V3Event } from "../../protocols/v3/events.ts";
import type { CheckpointRow, PoolRow } from "../../store/collections.ts";
import type { GaugeRow } from "../../store/v2-collections.ts";
import { address, CHAIN_ID, checkpointRow, hash, poolRow } from "./rows.ts";
import { firstEvents, gaugeRow, v2Events } from "./small-v2.ts";

/** A chain of events alone, for what needs no node: blocks from 1, pools created in some of them. */
export interface SmallBlock {
  readonly block: BlockEvents;
  readonly parentHash: string;
  readonly created: readonly PoolRow[];
  readonly gauges: readonly GaugeRow[];
}

const DAI = address(0x11);
export const ANCHORS = [DAI];
const START_S = 1_700_000_000;
const E18 = 10n ** 18n;

/** Pools by number: 0 and 1 against the anchor, 2 between their tokens, 3 without a price; from 4 on v2, 5 without a price. */
const PAIRS = [
  [address(0x10), DAI],
  [DAI, address(0x12)],
  [address(0x10), address(0x12)],
  [address(0x20), address(0x21)],
  [address(0x10), DAI],
  [address(0x20), address(0x22)],
] as const;
const FIRST_V2 = 4;
const ROOTS = [2n ** 95n, 2n ** 96n, (2n ** 96n * 102n) / 100n, 2n ** 97n];
/** Square roots of prices that are 0.8 % apart: for pools that leave the others in steps. */
export const NEAR_ROOTS = Array.from(
  { length: 5 },
  (_, i) => (2n ** 96n * (1_000n + 4n * BigInt(i))) / 1_000n,
);

export interface BlockPlan {
  readonly seconds: number;
  readonly events: readonly {
    readonly pool: number;
    readonly kind: number;
    readonly user: number;
    readonly size: number;
  }[];
}

const GAPS = [0, 1, 2, 12, 59, 61, 200, 3_599, 3_700, 90_000];

/** Plans of blocks: gaps from none to days, events on up to six pools by three users. */
export const blockPlans = (most: number, { least = 1, gaps = GAPS } = {}) =>
  fc.array(
    fc.record({
      seconds: fc.constantFrom(...gaps),
      events: fc.array(
        fc.record({
          pool: fc.nat(PAIRS.length - 1),
          kind: fc.nat(9),
          user: fc.nat(2),
          size: fc.integer({ min: 1, max: 9 }),
        }),
        { maxLength: 4 },
      ),
    }),
    { minLength: least, maxLength: most },
  );

/**
 * The blocks of a plan after `parent`; `branch` distinguishes two continuations. A pool is created where it is first
 * used.
 */
export function growChain(
  plan: readonly BlockPlan[],
  {
    after = [],
    branch = 0,
    roots = ROOTS,
  }: { after?: readonly SmallBlock[]; branch?: number; roots?: readonly bigint[] } = {},
): SmallBlock[] {
  const chain = [...after];
  const created = new Set(after.flatMap((each) => each.created.map((row) => row.poolAddress)));
  const gauged = new Set(after.flatMap((each) => each.gauges.map((row) => row.poolAddress)));
  for (const { seconds, events } of plan) {
    const parent = chain.at(-1)?.block;
    const number = (parent?.number ?? 0) + 1;
    const time = (parent?.time ?? START_S) + seconds;
    const used = [...new Set(events.map(({ pool }) => pool))].map((pool) => rowOf(pool, { number, time }));
    const fresh = used.filter((row) => !created.has(row.poolAddress));
    for (const row of fresh) created.add(row.poolAddress);
    const gaugedBefore = gauged.size;
    const placed: { pool: string; user: number; event: PoolEvent }[] = fresh.flatMap((row) => {
      const first = isV2(row) ? firstEvents(address(0xb00)) : [initialize, firstMint];
      return first.map((event) => ({ pool: row.poolAddress, user: 0, event }));
    });
    for (const each of events) {
      const pool = poolAddress(each.pool);
      const added =
        each.pool < FIRST_V2
          ? [eventOf(each.kind, each.size, roots)]
          : v2Events({ ...each, pool }, gauged.has(pool));
      for (const event of added) {
        if (event.kind === "gauge_created") gauged.add(pool);
        placed.push({ pool, user: each.user, event });
      }
    }
    chain.push({
      gauges: [...gauged].slice(gaugedBefore).map((pool) => gaugeRow(pool, number)),
      parentHash: parent?.hash ?? hash(0),
      created: fresh,
      block: {
        number,
        hash: hash(number, branch),
        time,
        events: placed.map(({ pool, user, event }, i) => ({
          logIndex: i,
          txHash: hash(number * 100 + i, branch),
          sender: address(0xa00 + user),
          poolAddress: pool,
          event,
        })),
      },
    });
  }
  return chain;
}

const poolAddress = (pool: number) => address(0x900 + pool);
export const POOLS = PAIRS.map((_, pool) => poolAddress(pool));

function rowOf(pool: number, at: { number: number; time: number }): PoolRow {
  const [token0Address, token1Address] = PAIRS[pool] as (typeof PAIRS)[number];
  const v2 = {
    dexName: "Aerodrome",
    family: "dexa",
    protocol: "aerodrome-v2",
    tickSpacing: 0,
    stable: pool > 4,
  };
  return poolRow({
    ...(pool < FIRST_V2 ? {} : v2),
    poolAddress: poolAddress(pool),
    token0Address,
    token1Address,
    token1Decimals: 18,
    createdBlock: at.number,
    createdAt: at.time,
  });
}

function isV2(row: PoolRow): boolean {
  return row.protocol === "aerodrome-v2";
}

const initialize: V3Event = { kind: "initialize", sqrtPriceX96: 2n ** 96n, tick: 0 };
const firstMint: LiquidityEvent = {
  kind: "mint",
  tickLower: -600,
  tickUpper: 600,
  liquidity: 1_000_000n * E18,
  amount0: 20_000n * E18,
  amount1: 20_000n * E18,
};

function eventOf(kind: number, size: number, roots: readonly bigint[]): V3Event {
  const amount = BigInt(size) * 1_000n * E18;
  if (kind === 0) return { kind: "flash", paid0: amount, paid1: 0n };
  if (kind === 1) return { kind: "collect", amount0: amount, amount1: amount };
  if (kind === 2) return { kind: "set_fee_protocol", feeProtocol: 0x40 + size };
  if (kind === 3) return { ...firstMint, liquidity: amount, tickLower: size * 100 - 600 };
  return {
    kind: "swap",
    amount0: kind % 2 === 0 ? amount : -amount,
    amount1: kind % 2 === 0 ? -amount : amount,
    sqrtPriceX96: roots[size % roots.length] as bigint,
    liquidity: 1_000_000n * E18,
    tick: size * 10,
  };
}

/** The checkpoint of a store without blocks. */
export function startCheckpoint(): CheckpointRow {
  return checkpointRow({
    blockNumber: 0,
    blockHash: hash(0),
    blockTime: START_S,
    fromBlock: 1,
    fromTime: START_S,
    chainHead: 0,
  });
}

/** An indexer at the store's checkpoint. */
export function openIndexer(store: Store, detail?: Detail): Promise<Indexer> {
  return loadIndexer(store, { chainId: CHAIN_ID, anchors: ANCHORS }, detail);
}

/** Indexes the blocks beyond the checkpoint as the ingest does, `batch` blocks a write, by default with an indexer of its own. */
export async function indexBlocks(
  store: Store,
  options: { chain: readonly SmallBlock[]; checkpoint: CheckpointRow; batch?: number; indexer?: Indexer },
): Promise<CheckpointRow> {
  const { chain, batch = 3 } = options;
  let { checkpoint } = options;
  const indexer = options.indexer ?? (await openIndexer(store));
  const guard = () => [];
  if (checkpoint.blockNumber === 0) await store.write(startSteps(checkpoint, ANCHORS));
  for (let at = checkpoint.blockNumber; at < chain.length; at += batch) {
    const part = chain.slice(at, at + batch);
    const last = (part.at(-1) as SmallBlock).block;
    for (const { created, gauges } of part) {
      for (const gauge of gauges) indexer.addGauge(gauge);
      for (const row of created) {
        for (const token of [row.token0Address, row.token1Address]) {
          indexer.addToken({ chainId: CHAIN_ID, address: token, symbol: "T", decimals: 18 });
        }
        indexer.addPool(row);
      }
    }
    const blocks = part.map(({ block }) => block).filter(({ events }) => events.length > 0);
    await indexer.pools.prepare(blocks.flatMap(({ events }) => events.map((event) => event.poolAddress)));
    await indexer.prepare(blocks);
    await indexer.preparePositions(blocks);
    for (const block of blocks) indexer.addBlock(block);
    checkpoint = {
      ...checkpoint,
      blockNumber: last.number,
      blockHash: last.hash,
      blockTime: last.time,
      chainHead: last.number,
    };
    const headers = part.map(({ block, parentHash }) => ({
      chainId: CHAIN_ID,
      number: block.number,
      hash: block.hash,
      parentHash,
      time: block.time,
    }));
    await writeProgress(store, {
      indexer,
      flushed: indexer.flush(),
      guard,
      progress: { checkpoint, fees: [], factoryFees: [], headers },
    });
  }
  return checkpoint;
}
