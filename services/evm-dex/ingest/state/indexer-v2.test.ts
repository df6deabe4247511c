import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Store } from "../../../shared/storage/port.ts";
import type { V2Event } from "../../protocols/aerodrome-v2/events.ts";
import { readV2State } from "../../protocols/aerodrome-v2/state.ts";
import { readIntegers } from "../../protocols/integers.ts";
import { address, CHAIN_ID, hash, inChainOrder, openTestStore, poolRow } from "../../test/kit/rows.ts";
import { type BlockEvents, Indexer } from "./indexer.ts";

const [TOKEN, DAI, POOL, ISLAND] = [0x10, 0x11, 0x900, 0x901].map(address) as [
  string,
  string,
  string,
  string,
];
const [ANN, ZERO] = [address(0xa), address(0)];
const E18 = 10n ** 18n;
const v2 = (poolAddress: string, tokens: readonly [string, string]) =>
  poolRow({
    poolAddress,
    protocol: "aerodrome-v2",
    token0Address: tokens[0],
    token1Address: tokens[1],
    token1Decimals: 18,
    fee: 3_000,
  });

function blockOf(number: number, events: readonly (readonly [string, V2Event])[]): BlockEvents {
  return {
    number,
    hash: hash(number),
    time: 1_700_000_000 + number,
    events: events.map(([poolAddress, event], logIndex) => ({
      logIndex,
      txHash: hash(number, 6),
      sender: ANN,
      poolAddress,
      event,
    })),
  };
}

const sync = (reserve0: bigint, reserve1: bigint): V2Event => ({
  kind: "sync",
  reserve0: reserve0 * E18,
  reserve1: reserve1 * E18,
});
/** 10,000 tokens at 4 DAI, and 1,000 LP tokens. */
const minted: readonly V2Event[] = [
  { kind: "transfer", from: ZERO, to: ANN, amount: 1_000n * E18 },
  sync(10_000n, 40_000n),
  { kind: "mint", amount0: 10_000n * E18, amount1: 40_000n * E18 },
];
/** 100 tokens in, 0.3 of them as fee, 390 DAI out. */
const swapped: readonly V2Event[] = [
  { kind: "fees", amount0: (3n * E18) / 10n, amount1: 0n },
  sync(10_100n, 39_610n),
  { kind: "swap", amount0In: 100n * E18, amount1In: 0n, amount0Out: 0n, amount1Out: 390n * E18 },
];

describe("Indexer: v2 pools", () => {
  let store: Store;
  let indexer: Indexer;
  beforeEach(async () => {
    store = await openTestStore();
    indexer = new Indexer(store, { chainId: CHAIN_ID, anchors: [DAI] });
    indexer.addPool(v2(POOL, [TOKEN, DAI]));
    indexer.addPool(v2(ISLAND, [address(0x20), address(0x21)]));
  });
  afterEach(() => store.close());

  async function add(...blocks: readonly BlockEvents[]) {
    await indexer.prepare(blocks);
    await indexer.preparePositions(blocks);
    for (const block of blocks) indexer.addBlock(block);
    const flushed = indexer.flush();
    const all = await indexer.count(flushed);
    return {
      ...flushed,
      events: inChainOrder(flushed.events),
      v2: indexer.v2.flush(),
      lp: indexer.positions.flush(),
      all,
    };
  }
  const on = (pool: string, events: readonly V2Event[]) => events.map((event) => [pool, event] as const);

  it("writes one row for a mint and one for a swap, each with the state after all its events", async () => {
    const { events } = await add(blockOf(100, on(POOL, minted)), blockOf(101, on(POOL, swapped)));
    expect(events.map(({ blockNumber, logIndex, kind }) => [blockNumber, logIndex, kind])).to.deep.equal([
      [100, 2, "mint"],
      [101, 2, "swap"],
    ]);
    expect(readV2State(events[1]?.state ?? "")).to.include({
      reserve0: 10_100n * E18,
      reserve1: 39_610n * E18,
      totalSupply: 1_000n * E18,
      fee: 30,
      index0: (3n * E18) / 10_000n,
      swapFee0: (3n * E18) / 10n,
    });
    expect(readIntegers(events[1]?.amounts ?? "")).to.deep.equal([100n * E18, -390n * E18]);
  });

  it("keeps the row of an event that no later one supersedes in its block, in chain order", async () => {
    const lone = { kind: "transfer", from: ANN, to: address(0xb), amount: 5n } as const;
    const { events } = await add(
      blockOf(100, [...on(POOL, minted), ...on(ISLAND, [sync(1n, 1n)]), [POOL, lone], [POOL, sync(7n, 9n)]]),
      blockOf(101, on(POOL, [sync(1n, 2n), ...swapped])),
    );
    const places = events.map(({ poolAddress, blockNumber, logIndex, kind }) => [
      poolAddress,
      blockNumber,
      logIndex,
      kind,
    ]);
    expect(places).to.have.deep.members([
      [POOL, 100, 2, "mint"],
      [POOL, 100, 5, "sync"],
      [ISLAND, 100, 3, "sync"],
      [POOL, 101, 3, "swap"],
    ]);
    const last = events.find(({ kind, poolAddress }) => kind === "sync" && poolAddress === POOL);
    expect(readV2State(last?.state ?? "")).to.include({ reserve0: 7n * E18, reserve1: 9n * E18 });
  });

  it("values swaps and fees where both tokens have a price, and counts them in hours and days", async () => {
    const {
      events,
      v2: books,
      all,
    } = await add(
      blockOf(100, on(POOL, minted)),
      blockOf(101, [...on(POOL, swapped), ...on(ISLAND, swapped)]),
    );
    const [ours, theirs] = [POOL, ISLAND].map((pool) =>
      events.find(({ kind, poolAddress }) => kind === "swap" && poolAddress === pool),
    );
    // At the block's end a token is 39,610 / 10,100 DAI.
    const price = 39_610 / 10_100;
    expect(ours?.price0Usd).to.be.closeTo(price, 1e-9);
    expect(ours?.valueUsd).to.be.closeTo((100 * price + 390) / 2, 1e-5);
    expect(ours?.feeUsd).to.be.closeTo(0.3 * price, 1e-5);
    expect([theirs?.valueUsd, theirs?.feeUsd]).to.deep.equal([null, null]);
    expect(
      books.rollups.map(({ poolAddress, span, swapCount }) => [poolAddress, span, swapCount]),
    ).to.have.deep.members([
      [POOL, 3_600, 1],
      [POOL, 86_400, 1],
      [ISLAND, 3_600, 1],
      [ISLAND, 86_400, 1],
    ]);
    expect([...all.rollups, ...all.users], "nothing reads these of v2 pools").to.deep.equal([]);
    expect([ours?.tickTravel, ours?.previousMinute]).to.deep.equal([0, null]);
  });

  it("settles positions by the index at their own event, not at the block's end", async () => {
    const away = { kind: "transfer", from: ANN, to: address(0xb), amount: 400n * E18 } as const;
    const { lp } = await add(
      blockOf(100, on(POOL, minted)),
      blockOf(101, on(POOL, [...swapped, away, ...swapped])),
    );
    const positionOf = (wallet: string) => lp.positions.find((row) => row.wallet === wallet)?.position ?? "";
    const [balance, , index0, , earned0] = readIntegers(positionOf(ANN));
    const growth = (3n * E18) / 10_000n;
    expect([balance, index0, earned0]).to.deep.equal([600n * E18, growth, (3n * E18) / 10n]);
    expect(readIntegers(positionOf(address(0xb))).slice(0, 3)).to.deep.equal([400n * E18, 0n, growth]);
  });
});
