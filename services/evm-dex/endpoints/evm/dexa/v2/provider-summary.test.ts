import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Hex } from "../../../../../shared/evm/port.ts";
import { put, type Store } from "../../../../../shared/storage/port.ts";
import { testContext } from "../../../../../shared/testkit/handler-context.ts";
import { EMPTY_V2_STATE, writeV2State } from "../../../../protocols/aerodrome-v2/state.ts";
import { WalletMemory } from "../../../../serve/provider/wallet-memory.ts";
import { inactivePools, pools } from "../../../../store/collections.ts";
import { depsOf, rowsOf } from "../../../../test/kit/answers.ts";
import { address, openTestStore } from "../../../../test/kit/rows.ts";
import { expectedApr, expectedFees } from "../../../../test/v2/lp-expectation.ts";
import { expectedRewardApr, expectedTvl, whole } from "../../../../test/v2/v2-expectation.ts";
import { ALICE, BOB, HEAD, LP, MIDNIGHT, type Sample, sampleWorld } from "../../../../test/v2/v2-sample.ts";
import { DAY, type WorldPool } from "../../../../test/v2/v2-world.ts";
import { endpoint } from "./provider-summary.endpoint.ts";
import { dexaProviderSummaryHandler } from "./provider-summary.handler.ts";

/** The locked LP tokens of a pool have a part of it, which the expectations leave out. */
const NEAR = 1e-9;
/** USD: fees are rounded down to raw units, millionths of a dollar, whenever a position is settled. */
const RAW_UNITS = 5e-6;

describe("/evm/dexa/v2/provider-summary", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  async function rowOf(sample: Sample, wallet: string) {
    const deps = depsOf(store, [sample.world.chain]);
    const params = { chain_id: 8453, wallet_address: wallet as Hex } as const;
    const rows = await rowsOf(endpoint, dexaProviderSummaryHandler(deps), params);
    expect(rows).to.have.length(1);
    // From the table of all pools, first read and kept, as for wallets with many positions.
    const kept = { fewPositions: -1, memory: new WalletMemory({ leastPositions: 0 }) };
    const fromTable = dexaProviderSummaryHandler(deps, kept);
    for (const _ of ["first", "kept"]) expect(await rowsOf(endpoint, fromTable, params)).to.deep.equal(rows);
    return rows[0] as Record<string, unknown>;
  }
  /** Also what the handler asked of the ingest, and the version. */
  async function answerOf(sample: Sample, wallet: string) {
    const requested: unknown[] = [];
    const wallets = { request: (key: unknown) => requested.push(key) };
    const handler = dexaProviderSummaryHandler({ ...depsOf(store, [sample.world.chain]), wallets });
    const params = { chain_id: 8453, wallet_address: wallet as Hex } as const;
    const { rows, version } = await handler(params, testContext());
    const cells = rows[0] as readonly unknown[];
    const row = Object.fromEntries(endpoint.columns.map(({ name }, i) => [name, cells[i]]));
    return { row, version, requested };
  }
  function expectNear(cell: unknown, value: number, title: string): void {
    expect(cell, title).to.be.closeTo(value, Math.abs(value) * NEAR);
  }

  function expectFees(cell: unknown, fees: number, title: string): void {
    expect(fees, title).to.be.greaterThan(1);
    expect(cell, title).to.be.closeTo(fees, RAW_UNITS);
  }

  it("adds up what a wallet holds and has staked, what it is entitled to and what it has earned", async () => {
    const sample = sampleWorld();
    const { world, weth, usdt } = sample;
    world.known.push(ALICE);
    await world.write(store);
    // 300 of 1,000 LP tokens of one pool, 150 of them staked; 25 of 725 of the other.
    const share = { weth: 300 / 1_000, usdt: 25 / 725 };
    const usd = {
      weth: (expectedTvl(weth) as number) * share.weth,
      usdt: (expectedTvl(usdt) as number) * share.usdt,
    };
    const total = usd.weth + usd.usdt;
    const row = await rowOf(sample, ALICE);
    expect(row).to.include({
      providerId: ALICE,
      activePositionCount: 3,
      poolCount: 2,
      firstPositionTimestamp: isoOf(MIDNIGHT - 39 * DAY + 35),
      lastActiveTimestamp: isoOf(MIDNIGHT - 2 * DAY + 11),
      updatedAt: isoOf(HEAD),
    });
    expectNear(row.totalValueLockedUsd, total, "totalValueLockedUsd");
    for (const days of [7, 30]) {
      const fees = expectedFees(sample, { wallet: ALICE, days });
      expectFees(row[`totalFeesEarned${days}d`], fees, `fees of ${days} days`);
      const rewardApr = expectedRewardApr({
        ...{ rewardRate: 3n * 10n ** 16n, rewardUsd: 0.5, tvlUsd: expectedTvl(weth) as number },
        ...{ staked: 150n * LP, totalSupply: 1_000n * LP + 1_000n },
      });
      const income =
        (usd.weth / 2) * expectedApr(sample, { pool: weth, days }) +
        (usd.weth / 2) * rewardApr +
        usd.usdt * expectedApr(sample, { pool: usdt, days });
      expectNear(row[`averageApr${days}dWeighted`], income / total, `APR of ${days} days`);
    }
    expectNear(row.concentrationIndex, (usd.weth / total) ** 2 + (usd.usdt / total) ** 2, "concentration");

    const [first, second, ...others] = row.topPoolsData as unknown[][];
    expect(others).to.deep.equal([]);
    expect(first?.slice(0, 3)).to.deep.equal([weth.row.poolAddress, "WETH", "USDC"]);
    expect(second?.slice(0, 3)).to.deep.equal([usdt.row.poolAddress, "USDC", "USDT"]);
    expectNear(first?.[3], usd.weth, "of the first pool");
    expectNear(first?.[4], usd.weth / total, "its share");
    expectNear(second?.[3], usd.usdt, "of the second pool");

    const amounts = {
      USDC: whole(weth.reserve1, 6) * share.weth + whole(usdt.reserve0, 6) * share.usdt,
      WETH: whole(weth.reserve0, 18) * share.weth,
      USDT: whole(usdt.reserve1, 6) * share.usdt,
    };
    const exposure = row.tokenExposure as unknown[][];
    expect(exposure.map(([, symbol]) => symbol)).to.deep.equal(["USDC", "WETH", "USDT"]);
    for (const [token, symbol, amount, valueUsd, ofTotal] of exposure) {
      const expected = amounts[symbol as keyof typeof amounts];
      const { priceUsd, address } = [weth.token0, weth.token1, usdt.token1].find(
        (each) => each.symbol === symbol,
      ) as WorldPool["token0"];
      expect(token).to.equal(address);
      // Rounded down to the token's unit, as a burn would.
      expect(amount, `amount of ${symbol}`).to.be.closeTo(expected, 1e-4);
      expect(valueUsd, `value of ${symbol}`).to.be.closeTo(expected * (priceUsd as number), 1e-4);
      expectNear(ofTotal, (expected * (priceUsd as number)) / total, `share of ${symbol}`);
    }
  });

  it("counts what was earned before a position was emptied", async () => {
    const sample = sampleWorld();
    sample.world.known.push(BOB);
    await sample.world.write(store);
    const fees = expectedFees(sample, { wallet: BOB, days: 7 });
    const row = await rowOf(sample, BOB);
    expectFees(row.totalFeesEarned7d, fees, "totalFeesEarned7d");
    expectFees(row.totalFeesEarned30d, fees, "totalFeesEarned30d");
    expect(row).to.deep.include({
      totalValueLockedUsd: 0,
      ...{ activePositionCount: 0, poolCount: 0, topPoolsData: [], tokenExposure: [] },
      ...{ averageApr7dWeighted: null, averageApr30dWeighted: null, concentrationIndex: null },
      firstPositionTimestamp: isoOf(MIDNIGHT - 5 * DAY),
      lastActiveTimestamp: isoOf(MIDNIGHT - 1),
    });
  });

  it("has zeros and nulls for a wallet that is known to have nothing", async () => {
    const sample = sampleWorld();
    sample.world.known.push(address(0xdead));
    await sample.world.write(store);
    expect(await rowOf(sample, address(0xdead))).to.deep.equal({
      providerId: address(0xdead),
      ...{ totalValueLockedUsd: 0, activePositionCount: 0, poolCount: 0 },
      ...{ totalFeesEarned7d: 0, totalFeesEarned30d: 0 },
      ...{ averageApr7dWeighted: null, averageApr30dWeighted: null },
      ...{ firstPositionTimestamp: null, lastActiveTimestamp: null },
      ...{ topPoolsData: [], tokenExposure: [], concentrationIndex: null },
      updatedAt: isoOf(HEAD),
    });
  });

  it("has no sums while one position cannot be priced, but every part that can", async () => {
    const sample = sampleWorld();
    const { world, dust, weth } = sample;
    world.known.push(ALICE);
    const move = { pool: dust, time: MIDNIGHT - DAY, wallet: ALICE, kind: "transfer" } as const;
    world.moves.push({ ...move, amount: 10n * LP });
    await world.write(store);
    const row = await rowOf(sample, ALICE);
    const nulls = Object.keys(row).filter((name) => row[name] === null);
    expect(nulls).to.deep.equal([
      ...["totalValueLockedUsd", "totalFeesEarned7d", "totalFeesEarned30d"],
      ...["averageApr7dWeighted", "averageApr30dWeighted", "concentrationIndex"],
    ]);
    expect(row).to.include({ activePositionCount: 4, poolCount: 3 });
    const pools = row.topPoolsData as unknown[][];
    expect(pools.map(([pool]) => pool)).to.deep.equal([
      ...[weth.row.poolAddress, sample.usdt.row.poolAddress, dust.row.poolAddress],
    ]);
    expect(pools.map(([, , , usd, ofTotal]) => [usd === null, ofTotal])).to.deep.equal([
      [false, null],
      [false, null],
      [true, null],
    ]);
    const tokens = row.tokenExposure as unknown[][];
    expect(tokens.map(([, symbol, , usd]) => [symbol, usd === null])).to.deep.equal([
      ...[
        ["USDC", false],
        ["WETH", false],
        ["USDT", false],
        ["DUST", true],
      ],
    ]);
  });

  it("has no weighted APR while the reward of something staked has no price", async () => {
    const sample = sampleWorld({ rewardUsd: null });
    sample.world.known.push(ALICE);
    await sample.world.write(store);
    const row = await rowOf(sample, ALICE);
    expect(row).to.include({ averageApr7dWeighted: null, averageApr30dWeighted: null });
    expect(row.totalValueLockedUsd).to.be.a("number");
    // She was in the pool of the reward token until four days ago: what she earned there has no price now.
    expect(row).to.include({ totalFeesEarned7d: null, totalFeesEarned30d: null });
  });

  it("has no fees and APRs of windows that begin before the index does", async () => {
    const sample = sampleWorld({ indexedFrom: MIDNIGHT - 10 * DAY });
    sample.world.known.push(ALICE, BOB);
    await sample.world.write(store);
    const row = await rowOf(sample, BOB);
    expectFees(row.totalFeesEarned7d, expectedFees(sample, { wallet: BOB, days: 7 }), "totalFeesEarned7d");
    expect(row.totalFeesEarned30d).to.equal(null);
    const alice = await rowOf(sample, ALICE);
    expect(alice.averageApr7dWeighted).to.be.a("number");
    expect(alice).to.include({ averageApr30dWeighted: null, totalFeesEarned30d: null });
  });

  it("separates a window's first second from the one before it, with swaps and moves in the same second", async () => {
    const sample = sampleWorld();
    const { world, weth } = sample;
    const start = MIDNIGHT - 7 * DAY;
    expect(world.swaps.filter(({ pool, time }) => pool === weth && time === start)).not.to.deep.equal([]);
    const [last, first, between] = [address(0xe1), address(0xe2), address(0xe3)];
    world.older.push({ pool: weth, wallet: first, balance: 40n * LP });
    const move = (wallet: string, time: number, amount: bigint) =>
      world.moves.push({ pool: weth, wallet, time, kind: "transfer", amount: amount * LP });
    move(last, MIDNIGHT - 20 * DAY, 20n);
    move(last, start, 90n);
    move(first, start, -15n);
    move(between, MIDNIGHT - 20 * DAY, 20n);
    move(between, start, 90n);
    move(between, MIDNIGHT - 3 * DAY, -50n);
    world.known.push(last, first, between);
    await world.write(store);
    for (const wallet of [last, first, between]) {
      const { totalFeesEarned7d } = await rowOf(sample, wallet);
      expectFees(totalFeesEarned7d, expectedFees(sample, { wallet, days: 7 }), wallet);
    }
  });

  it("counts a position older than the index from what it was then", async () => {
    const sample = sampleWorld();
    const { world, weth } = sample;
    const carol = address(0xca501);
    world.older.push({ pool: weth, wallet: carol, balance: 40n * LP });
    world.known.push(carol);
    const leave = { pool: weth, time: MIDNIGHT - 4 * DAY + 99, wallet: carol, kind: "transfer" } as const;
    world.moves.push({ ...leave, amount: -40n * LP });
    await world.write(store);
    const row = await rowOf(sample, carol);
    // Fees of three days of the week, before her first indexed event.
    const fees = expectedFees(sample, { wallet: carol, days: 7 });
    expectFees(row.totalFeesEarned7d, fees, "totalFeesEarned7d");
    expectFees(
      row.totalFeesEarned30d,
      expectedFees(sample, { wallet: carol, days: 30 }),
      "totalFeesEarned30d",
    );
    expect(row.firstPositionTimestamp, "as far as it is known").to.equal(isoOf(leave.time));
  });

  it("has a position that nothing has touched since the index began, and its fees", async () => {
    const sample = sampleWorld();
    const { world, weth } = sample;
    const dave = address(0xda7e);
    world.older.push({ pool: weth, wallet: dave, balance: 40n * LP });
    world.known.push(dave);
    await world.write(store);
    const row = await rowOf(sample, dave);
    expect(row).to.include({ activePositionCount: 1, poolCount: 1, firstPositionTimestamp: null });
    const usd = ((expectedTvl(weth) as number) * 40) / 1_040;
    expectNear(row.totalValueLockedUsd, usd, "totalValueLockedUsd");
    for (const days of [7, 30]) {
      expectFees(
        row[`totalFeesEarned${days}d`],
        expectedFees(sample, { wallet: dave, days }),
        `${days} days`,
      );
      expectNear(
        row[`averageApr${days}dWeighted`],
        expectedApr(sample, { pool: weth, days }),
        `${days} days`,
      );
    }
  });

  it("has no totals of a wallet whose past is unread, but its positions with events", async () => {
    const sample = sampleWorld();
    const { world, weth } = sample;
    const dave = address(0xda7e);
    world.older.push({ pool: weth, wallet: dave, balance: 40n * LP });
    await world.write(store);
    const unread = await answerOf(sample, dave);
    expect(unread.row).to.deep.include({
      ...{ totalValueLockedUsd: null, totalFeesEarned7d: null, totalFeesEarned30d: null },
      ...{ averageApr7dWeighted: null, averageApr30dWeighted: null, concentrationIndex: null },
      ...{ activePositionCount: 0, poolCount: 0, topPoolsData: [], tokenExposure: [] },
    });
    expect(unread.requested).to.deep.equal([{ chainId: 8453, wallet: dave }]);
    expect(unread.version).not.to.have.property("positionsFromBlock");
    const alice = await answerOf(sample, ALICE);
    expect(alice.row).to.include({ totalValueLockedUsd: null, activePositionCount: 3, poolCount: 2 });
    expect(
      (alice.row.topPoolsData as unknown[][]).map(([, , , usd, share]) => [typeof usd, share]),
    ).to.deep.equal([
      ["number", null],
      ["number", null],
    ]);

    world.known.push(dave);
    await world.write(store);
    const read = await answerOf(sample, dave);
    expect(read.requested).to.deep.equal([]);
    expect(read.version?.positionsFromBlock).to.equal(world.checkpoint.fromBlock);
    // The same block: another ETag.
    expect(read.version?.tag).not.to.equal(unread.version?.tag);
  });

  it("reads a known wallet again once more pools older than the index are known", async () => {
    const sample = sampleWorld();
    const { world, weth } = sample;
    world.known.push(ALICE);
    await world.write(store);
    expect((await answerOf(sample, ALICE)).requested).to.deep.equal([]);
    const found = { ...weth.row, poolAddress: address(0x9999) };
    await store.write([put(pools, [found])]);
    const { row, requested } = await answerOf(sample, ALICE);
    expect(requested).to.deep.equal([{ chainId: 8453, wallet: ALICE }]);
    expect(row.totalValueLockedUsd).to.equal(null);
  });

  it("has no fees of windows before the index of a wallet that may have left an older pool then", async () => {
    const sample = sampleWorld({ indexedFrom: MIDNIGHT - 10 * DAY });
    sample.world.known.push(address(0xdead));
    await sample.world.write(store);
    expect(await rowOf(sample, address(0xdead))).to.include({
      ...{ totalValueLockedUsd: 0, totalFeesEarned7d: 0, totalFeesEarned30d: null },
    });
  });

  it("knows every wallet while no pool is older than the index", async () => {
    const sample = sampleWorld({ indexedFrom: MIDNIGHT - 10 * DAY });
    const { world } = sample;
    for (const { row } of world.pools)
      Object.assign(row, { createdAt: world.indexedFrom + 20, createdBlock: 110 });
    await world.write(store);
    const { row, requested, version } = await answerOf(sample, address(0xdead));
    expect(row).to.include({ totalValueLockedUsd: 0, totalFeesEarned7d: 0, totalFeesEarned30d: 0 });
    expect(requested).to.deep.equal([]);
    expect(version?.positionsFromBlock).to.equal(world.checkpoint.fromBlock);
  });

  it("has no value of a position in an older pool whose state is yet to be read", async () => {
    const sample = sampleWorld();
    const { world, weth } = sample;
    const dave = address(0xda7e);
    const quiet = world.addPool({
      ...{ token0: weth.token0, token1: weth.token1, fee: 30, reserve0: 1n, reserve1: 1n },
    });
    world.older.push({ pool: quiet, wallet: dave, balance: 40n * LP });
    world.known.push(dave);
    await world.write(store);
    const row = await rowOf(sample, dave);
    expect(row).to.include({ totalValueLockedUsd: null, activePositionCount: 1, totalFeesEarned7d: null });
    const state = {
      ...EMPTY_V2_STATE,
      totalSupply: 80n * LP,
      reserve0: 10n ** 18n,
      reserve1: 3_000_000_000n,
    };
    await store.write([
      put(inactivePools, [
        {
          ...{ chainId: 8453, poolAddress: quiet.row.poolAddress, state: writeV2State(state) },
          ...{ balance0: 0n, balance1: 0n, balanceBlock: 99, priced: false },
        },
      ]),
    ]);
    const read = await rowOf(sample, dave);
    expectNear(read.totalValueLockedUsd, 3_000, "half of it");
    expect(read).to.include({ totalFeesEarned7d: 0, totalFeesEarned30d: 0 });
  });
});

function isoOf(time: number): string {
  return `${new Date(time * 1_000).toISOString().slice(0, 19)}+00:00`;
}
