import { expect } from "chai";
import { it } from "mocha";
import type { Store } from "../../shared/storage/port.ts";
import { describeLong, itThorough } from "../../shared/testkit/describe.ts";
import { expectSame } from "../../shared/testkit/expect-same.ts";
import type { TimedBlock } from "../ingest/timed-block.ts";
import { rollBack } from "../ingest/write.ts";
import { type CheckpointRow, candles, checkpoints, priceVerdicts } from "../store/collections.ts";
import { SOL, SOL_USD } from "./attack-market.ts";
import { createStepwiseStore, Killed } from "./broken-store.ts";
import { indexInBatches } from "./index-in-batches.ts";
import {
  CHILD,
  MOVES,
  type Move,
  RepairMarket,
  readAllCandles,
  readHolderPrice,
  TOKENS,
} from "./repair-market.ts";
import { contents, copyRows, openTestStore } from "./store.ts";
import { TestIndex } from "./test-index.ts";

const TOLERANCE = 0.01;
const SETTLED_MINUTES = 15;

function marketOf(move: Move, isMade: boolean): RepairMarket {
  const market = new RepairMarket();
  market.move(move, isMade);
  market.calm(SETTLED_MINUTES, { withOld: !(isMade && move.isDrained) });
  return market;
}

async function expectSameCandles(found: Store, clean: Store, until: number): Promise<number> {
  let compared = 0;
  for (const mint of TOKENS) {
    const expected = await readAllCandles(clean, { mint, until });
    const actual = await readAllCandles(found, { mint, until });
    expect([...actual.keys()]).to.deep.equal([...expected.keys()]);
    for (const [at, prices] of expected)
      for (const [i, usd] of prices.entries()) {
        expect(actual.get(at)?.[i], `${mint} ${at}, ${i}`).to.be.closeTo(usd, usd * TOLERANCE);
        compared += 1;
      }
  }
  return compared;
}

/** Largest relative error of the child's candles of a minute. */
async function childError(store: Store, until: number): Promise<number> {
  let worst = 0;
  for (const [at, prices] of await readAllCandles(store, { mint: CHILD, until }))
    if (at.startsWith("1m"))
      for (const usd of prices) worst = Math.max(worst, Math.abs(usd / (0.002 * SOL_USD) - 1));
  return worst;
}

describeLong("Solana: candles and holders once a price is taken back", () => {
  for (const move of MOVES) {
    it(`${move.name}: are those without it, in all intervals`, async () => {
      const [made, clean] = [marketOf(move, true), marketOf(move, false)];
      const [found, expected] = [await openTestStore(), await openTestStore()];
      try {
        const during = made.blocks.slice(0, made.blocks.length - SETTLED_MINUTES);
        const { slot, time } = made.blocks[0] as TimedBlock;
        const index = await TestIndex.open(found, { slot, time });
        await index.apply(during);
        // The price was followed, and all that rests on it: otherwise there is nothing to take back.
        expect(await childError(found, made.now)).to.be.above(0.1);
        expect(Math.abs((await readHolderPrice(found)) / SOL_USD - 1)).to.be.above(0.1);
        await index.apply(made.blocks.slice(during.length));
        await indexInBatches(clean.blocks, [100], expected);
        const verdicts = await found.find(priceVerdicts, {});
        // Tokens that rest on SOL may have left their other pools with it.
        expect(verdicts.map(({ mint }) => mint)).to.include(SOL);
        for (const { isRefused } of verdicts) expect(isRefused).to.equal(true);
        expect(await expectSameCandles(found, expected, made.now)).to.be.above(4_000);
        expect(await readHolderPrice(found)).to.be.closeTo(SOL_USD, SOL_USD * TOLERANCE);
      } finally {
        await found.close();
        await expected.close();
      }
    });
  }

  it("keep a price that the others came to", async () => {
    const market = new RepairMarket();
    market.move({ name: "", factors: Array(75).fill(1.5) }, true);
    const followed = market.now;
    market.follow(SETTLED_MINUTES, 1.5);
    const store = await indexInBatches(market.blocks, [40]);
    try {
      const verdicts = await store.find(priceVerdicts, {});
      expect(verdicts.map(({ mint, isRefused }) => [mint, isRefused])).to.deep.equal([[SOL, false]]);
      const [high] = await highsOf(store, { from: followed - 600, until: followed });
      expect(high).to.be.closeTo(1.5 * 0.002 * SOL_USD, 1e-3);
      expect(await readHolderPrice(store)).to.be.closeTo(1.5 * SOL_USD, SOL_USD * TOLERANCE);
    } finally {
      await store.close();
    }
  });

  it("differ after a fork in which the price is confirmed instead, and again after one back", async () => {
    const move = MOVES[0] as Move;
    const taken = new RepairMarket();
    taken.move(move, true);
    const shared = taken.blocks.length;
    taken.calm(SETTLED_MINUTES);
    const kept = new RepairMarket();
    kept.move(move, true);
    kept.follow(SETTLED_MINUTES, 2);
    const other = kept.blocks.map((block, i) =>
      i < shared ? block : { ...block, blockhash: `x${block.slot}` },
    );
    const [whole, wholeOther] = [await indexInBatches(taken.blocks, [50]), await indexInBatches(other, [50])];
    const store = await openTestStore();
    try {
      const { slot, time } = taken.blocks[0] as TimedBlock;
      const index = await TestIndex.open(store, { slot, time });
      const finalLag = 2 * SETTLED_MINUTES;
      await index.apply(taken.blocks.slice(0, shared - 5), { finalLag });
      const lastShared = taken.blocks[shared - 1] as TimedBlock;
      for (const block of taken.blocks.slice(shared - 5)) await index.apply([block], { finalLag });
      expectSame(await contents(store), await contents(whole));
      for (const [blocks, expected] of [
        [other, wholeOther],
        [taken.blocks, whole],
      ] as const) {
        await index.fork(lastShared.slot);
        expect(await store.find(priceVerdicts, {})).to.deep.equal([]);
        for (let at = shared; at < blocks.length; at += 4)
          await index.apply(blocks.slice(at, at + 4), { finalLag });
        expectSame(await contents(store), await contents(expected));
      }
      expect(await wholeOther.find(priceVerdicts, {})).to.have.length(1);
    } finally {
      for (const each of [store, whole, wholeOther]) await each.close();
    }
  });

  it("are whole after a kill between any two steps of the write that takes the price back", async () => {
    const market = marketOf(MOVES[0] as Move, true);
    const { blocks } = market;
    const whole = await indexInBatches(blocks, [50]);
    const expected = await contents(whole);
    const verdictSlot = (await whole.find(priceVerdicts, {}))[0]?.slot as number;
    await whole.close();
    const at = blocks.findIndex(({ slot }) => slot === verdictSlot) - 1;
    const before = await indexInBatches(blocks.slice(0, at), [at]);
    for (let steps = 0; ; steps++) {
      const inner = await openTestStore();
      const store = createStepwiseStore(inner);
      const { slot, time } = blocks[0] as TimedBlock;
      let index = await TestIndex.open(store, { slot, time });
      await copyRows(before, inner);
      index.checkpoint = (await inner.find(checkpoints, {}))[0] as CheckpointRow;
      store.killAfter(steps);
      const killed = await index.apply(blocks.slice(at, at + 4)).catch((error: unknown) => error);
      store.killAfter(Number.POSITIVE_INFINITY);
      if (killed !== undefined) expect(killed).to.be.instanceOf(Killed);
      const [checkpoint] = await inner.find(checkpoints, {});
      index = await TestIndex.open(store, { slot, time });
      index.checkpoint = await rollBack(store, {
        checkpoint: checkpoint ?? index.checkpoint,
        after: checkpoint?.slot ?? slot - 1,
        guard: () => [],
      });
      const next = blocks.findIndex((block) => block.slot > index.checkpoint.slot);
      await index.apply(blocks.slice(next));
      expectSame(await contents(inner), expected, `killed after ${steps} steps`);
      await inner.close();
      if (killed === undefined) {
        await before.close();
        expect(steps).to.be.above(8);
        return;
      }
    }
  });

  itThorough("end in the same store, however blocks are cut into batches and whoever continues", async () => {
    for (const move of MOVES) {
      const { blocks } = marketOf(move, true);
      const whole = await indexInBatches(blocks, [blocks.length]);
      const expected = await contents(whole);
      expect(
        expected[candles.name]?.some((row) => (row as { ifRefused: unknown }).ifRefused !== null),
      ).to.equal(true);
      await whole.close();
      for (const sizes of [[1], [3, 17, 90]]) {
        const store = await indexInBatches(blocks, sizes);
        expectSame(await contents(store), expected);
        await store.close();
      }
    }
  });
});

/** Highest prices of the child's candles of ten minutes. */
async function highsOf(store: Store, { from, until }: { from: number; until: number }): Promise<number[]> {
  const all = await readAllCandles(store, { mint: CHILD, until });
  return [...all].flatMap(([at, [, high]]) => {
    const [interval, , start] = at.split(" ");
    return interval === "5m" && Number(start) >= from ? [high as number] : [];
  });
}
