import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Store } from "../../../shared/storage/port.ts";
import { readIntegers } from "../../protocols/integers.ts";
import type { V3Event as PoolEvent } from "../../protocols/v3/events.ts";
import { readState } from "../../protocols/v3/state.ts";
import type { PoolEventRow } from "../../store/collections.ts";
import { address, CHAIN_ID, hash, inChainOrder, openTestStore, poolRow } from "../../test/kit/rows.ts";
import { type BlockEvents, Indexer } from "./indexer.ts";
import type { PoolEntry } from "./pool-book.ts";

const TOKEN = address(0x10);
const DAI = address(0x11);
const POOL = address(0x900);
/** Neither token leads to a stablecoin. */
const ISLAND = address(0x901);
const ANN = address(0xa);
const BOB = address(0xb);
const E18 = 10n ** 18n;
/** √P = 2: 4 DAI a token. */
const FOUR = 2n ** 97n;

const pool = poolRow({ poolAddress: POOL, token0Address: TOKEN, token1Address: DAI, token1Decimals: 18 });
const island = poolRow({
  poolAddress: ISLAND,
  token0Address: address(0x20),
  token1Address: address(0x21),
  token1Decimals: 18,
});

const initialize: PoolEvent = { kind: "initialize", sqrtPriceX96: FOUR, tick: 13_863 };
const mint: PoolEvent = {
  kind: "mint",
  tickLower: 13_800,
  tickUpper: 13_920,
  liquidity: 1_000_000n * E18,
  amount0: 10_000n * E18,
  amount1: 40_000n * E18,
};
const swap = (amount0: bigint, amount1: bigint, tick = 13_863): PoolEvent => ({
  kind: "swap",
  amount0: amount0 * E18,
  amount1: amount1 * E18,
  sqrtPriceX96: FOUR,
  liquidity: 1_000_000n * E18,
  tick,
});

/** A block with events given as [pool, sender, event]. */
function blockOf(
  number: number,
  time: number,
  events: readonly (readonly [string, string, PoolEvent])[],
): BlockEvents {
  return {
    number,
    hash: hash(number),
    time,
    events: events.map(([poolAddress, sender, event], i) => ({
      logIndex: 3 * i,
      txHash: hash(number, 6),
      sender,
      poolAddress,
      event,
    })),
  };
}

/** A row with what its texts say in place of them. */
function opened({ amounts, state, ...row }: PoolEventRow) {
  const [amount0, amount1] = readIntegers(amounts);
  return { ...row, amount0, amount1, ...readState(state) };
}

describe("Indexer", () => {
  let store: Store;
  let indexer: Indexer;
  beforeEach(async () => {
    store = await openTestStore();
    indexer = new Indexer(store, { chainId: CHAIN_ID, anchors: [DAI] });
    indexer.addPool(pool);
    indexer.addPool(island);
  });
  afterEach(() => store.close());

  async function add(...blocks: readonly BlockEvents[]) {
    await indexer.prepare(blocks);
    for (const block of blocks) indexer.addBlock(block);
    const flushed = indexer.flush();
    const { rollups } = await indexer.count(flushed);
    return { ...flushed, rollups, events: inChainOrder(flushed.events), links: [...flushed.links] };
  }

  it("writes a row for each event with the pool's state after it", async () => {
    const { events } = await add(
      blockOf(100, 1_000, [
        [POOL, ANN, initialize],
        [POOL, ANN, mint],
      ]),
      blockOf(101, 1_010, [[POOL, BOB, swap(10n, -39n, 13_870)]]),
    );
    const common = {
      chainId: CHAIN_ID,
      poolAddress: POOL,
      price0Usd: 4,
      price1Usd: 1,
      previousMinute: null,
      previousUsers: null,
    };
    const first = {
      ...common,
      blockNumber: 100,
      blockHash: hash(100),
      time: 1_000,
      txHash: hash(100, 6),
      sender: ANN,
    };
    const notSwapped = { valueUsd: null, feeUsd: null, tickTravel: null };
    expect(events.map(opened)).to.deep.equal([
      {
        ...first,
        ...notSwapped,
        logIndex: 0,
        kind: "initialize",
        amount0: 0n,
        amount1: 0n,
        sqrtPriceX96: FOUR,
        liquidity: 0n,
        tick: 13_863,
        reserve0: 0n,
        reserve1: 0n,
        feeProtocol: 0,
      },
      {
        ...first,
        ...notSwapped,
        logIndex: 3,
        kind: "mint",
        amount0: 10_000n * E18,
        amount1: 40_000n * E18,
        sqrtPriceX96: FOUR,
        liquidity: 1_000_000n * E18,
        tick: 13_863,
        reserve0: 10_000n * E18,
        reserve1: 40_000n * E18,
        feeProtocol: 0,
      },
      {
        ...common,
        blockNumber: 101,
        blockHash: hash(101),
        time: 1_010,
        txHash: hash(101, 6),
        sender: BOB,
        logIndex: 0,
        kind: "swap",
        amount0: 10n * E18,
        amount1: -39n * E18,
        sqrtPriceX96: FOUR,
        liquidity: 1_000_000n * E18,
        tick: 13_870,
        reserve0: 10_010n * E18,
        reserve1: 39_961n * E18,
        feeProtocol: 0,
        // (10 × 4 + 39) / 2; 0.3 % of 40, to the millionth.
        valueUsd: 39.5,
        feeUsd: 125_829 / 1_048_576,
        tickTravel: 7,
      },
    ]);
  });

  it("values a swap at the prices of its block's end", async () => {
    // The pool becomes deep enough only after the swap, in the same block.
    const { events } = await add(
      blockOf(100, 1_000, [
        [POOL, ANN, initialize],
        [POOL, ANN, swap(1n, -4n)],
        [POOL, ANN, mint],
      ]),
    );
    expect(events.map(({ kind, valueUsd }) => [kind, valueUsd])).to.deep.equal([
      ["initialize", null],
      ["swap", 4],
      ["mint", null],
    ]);
    expect(events.every(({ price0Usd }) => price0Usd === 4)).to.equal(true);
  });

  it("counts, but does not value, swaps of tokens without a price", async () => {
    const { events, rollups } = await add(
      blockOf(100, 1_000, [
        [ISLAND, ANN, initialize],
        [ISLAND, ANN, mint],
        [ISLAND, ANN, swap(10n, -39n)],
      ]),
    );
    expect(events.at(-1)).to.include({
      kind: "swap",
      price0Usd: null,
      price1Usd: null,
      valueUsd: null,
      feeUsd: null,
    });
    expect(rollups).to.have.length(3);
    for (const row of rollups) {
      expect(row).to.include({
        swapCount: 1,
        unpricedCount: 1,
        unpricedFeeCount: 1,
        volumeUsd: 0,
        feesUsd: 0,
        closePrice: 4,
        lastSeenUsers: 1,
      });
    }
  });

  it("takes the protocol's share from the state after a swap", async () => {
    const shared: PoolEvent = { kind: "set_fee_protocol", feeProtocol: 0x04 };
    const { events } = await add(
      blockOf(100, 1_000, [
        [POOL, ANN, initialize],
        [POOL, ANN, mint],
        [POOL, ANN, shared],
        [POOL, ANN, swap(1_000n, -4_000n)],
        [POOL, ANN, swap(-1_000n, 4_000n)],
      ]),
    );
    // A quarter of the fees on token0, none on token1.
    expect(events.slice(-2).map(({ feeUsd }) => feeUsd)).to.deep.equal([9, 12]);
  });

  it("has the minute of a sender's previous swap, across blocks and batches", async () => {
    const setUp = blockOf(100, 1_000, [
      [POOL, ANN, initialize],
      [POOL, ANN, mint],
    ]);
    const swapOf = (user: string) => [POOL, user, swap(1n, -4n)] as const;
    const { events } = await add(
      setUp,
      blockOf(101, 1_010, [swapOf(ANN)]),
      blockOf(102, 1_075, [swapOf(ANN), swapOf(BOB), swapOf(ANN)]),
      blockOf(103, 1_080, [[ISLAND, ANN, swap(1n, -4n)], swapOf(ANN)]),
    );
    const previous = events.filter(({ kind }) => kind === "swap").map(({ previousMinute }) => previousMinute);
    expect(previous).to.deep.equal([null, 960, null, 1_020, null, 1_080 - 60]);
    const later = await add(blockOf(104, 5_000, [swapOf(BOB), swapOf(ANN)]));
    expect(later.events.map(({ previousMinute }) => previousMinute)).to.deep.equal([1_020, 1_080]);
    // Bob was alone in his minute, and both in the hour; then Ann is alone in hers.
    expect(later.events.map(({ previousUsers }) => previousUsers)).to.deep.equal(["1 2", "1 1"]);
  });

  it("does not count the move from an unknown price as tick travel", async () => {
    const { events } = await add(blockOf(100, 1_000, [[POOL, ANN, swap(1n, -4n, 13_863)]]));
    expect(events[0]?.tickTravel).to.equal(0);
    const next = await add(blockOf(101, 1_002, [[POOL, ANN, swap(1n, -4n, 13_800)]]));
    expect(next.events[0]?.tickTravel).to.equal(63);
  });

  it("keeps a pool's state before its first event, and the touched pools", async () => {
    await add(blockOf(100, 1_000, [[POOL, ANN, initialize]]));
    const { touched } = await add(
      blockOf(101, 1_010, [[POOL, ANN, mint]]),
      blockOf(102, 1_012, [[POOL, ANN, swap(1n, -4n)]]),
    );
    expect(touched).to.have.length(1);
    expect(touched[0]).to.include({ lastBlock: 102, lastTime: 1_012 });
    expect(readState(touched[0]?.anchor as string)).to.include({ sqrtPriceX96: 0n, reserve0: 0n });
    expect(touched[0]?.state).to.include({ reserve0: 10_001n * E18, tick: 13_863 });
  });

  it("flushes each pool, token and event once", async () => {
    const token = { chainId: CHAIN_ID, address: TOKEN, symbol: "TKN", decimals: 18 };
    indexer.addPool(pool);
    indexer.addToken(token);
    const taken = await add(blockOf(100, 1_000, [[POOL, ANN, initialize]]));
    expect(taken.pools).to.deep.equal([pool, island]);
    expect(taken.tokens).to.deep.equal([token]);
    expect(taken.events).to.have.length(1);
    const { swaps, ...again } = indexer.flush();
    expect(swaps.count).to.equal(0);
    expect({ ...again, events: [...again.events], links: [...again.links] }).to.deep.equal({
      events: [],
      pools: [],
      tokens: [],
      gauges: [],
      touched: [],
      links: [],
      answers: [],
    });
  });

  it("flushes a token's link with the block that changed it, and none where a block changed nothing", async () => {
    const { links } = await add(
      blockOf(100, 1_000, [
        [POOL, ANN, initialize],
        [POOL, ANN, mint],
        [ISLAND, ANN, initialize],
        [ISLAND, ANN, mint],
      ]),
      blockOf(101, 1_002, [[ISLAND, ANN, swap(1n, -4n)]]),
      blockOf(103, 1_004, [[POOL, ANN, swap(10n, -40n)]]),
    );
    const support = { deepestPool: POOL, depthUsd: 36_864, restUsd: 0 };
    const agreed = { departedAt: null, departedUsd: null, agreedUsd: null };
    const link = {
      ...{ chainId: CHAIN_ID, token: TOKEN, parent: DAI, pool: POOL, side: 0, price: 4, hops: 1 },
      ...support,
      ...agreed,
    };
    // A swap of 10 moves neither price nor depth by enough to tell.
    expect(links).to.deep.equal([{ ...link, blockNumber: 100, time: 1_000 }]);
    const drained = { kind: "collect", amount0: 0n, amount1: 30_000n * E18 } as PoolEvent;
    const later = await add(blockOf(104, 1_006, [[POOL, ANN, drained]]));
    const none = { parent: "", pool: "", deepestPool: "", side: 0, price: 0, hops: 0 };
    expect(later.links).to.deep.equal([{ ...link, ...none, blockNumber: 104, time: 1_006, depthUsd: 0 }]);
  });

  it("keeps the pools that wait for the next write, and of those of the last one as many as a cache may have", () => {
    const addPools = (from: number) => {
      const rows = Array.from({ length: 15_000 }, (_, n) => poolRow({ poolAddress: address(from + n) }));
      for (const row of rows) indexer.addPool(row);
      return rows.map(({ poolAddress }) => poolAddress);
    };
    const isKept = (pool: string) => indexer.pools.get(pool) !== undefined;
    const stored = addPools(0x10_0000);
    const flushed = indexer.flush();
    const created = addPools(0x20_0000);
    const traded = stored.slice(-100).map((pool) => indexer.pools.get(pool) as PoolEntry);
    for (const entry of traded) indexer.touch(entry);
    indexer.settle(flushed);
    expect(created.filter((pool) => !isKept(pool))).to.deep.equal([]);
    expect(traded.filter((entry) => indexer.pools.get(entry.row.poolAddress) !== entry)).to.deep.equal([]);
    expect(stored.filter(isKept).length).to.be.at.most(12_100);
  });

  it("refuses events of a pool that was not loaded", () => {
    const foreign = blockOf(100, 1_000, [[address(0x999), ANN, initialize]]);
    expect(() => indexer.addBlock(foreign)).to.throw(address(0x999));
  });
});
