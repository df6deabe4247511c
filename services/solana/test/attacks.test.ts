import { expect } from "chai";
import fc from "fast-check";
import { after, it } from "mocha";
import { describeLong, itThorough, randomRuns } from "../../shared/testkit/describe.ts";
import { ohlcvToken, tokenHolders, tokenTransactions } from "../contract.ts";
import { createHandlers } from "../handlers.ts";
import type { TimedBlock } from "../ingest/timed-block.ts";
import { createDeps } from "../serve/deps.ts";
import { prices } from "../store/collections.ts";
import { queryEndpoint } from "./ask.ts";
import { AttackMarket, follow, pair, SCAM, SOL, SOL_USD } from "./attack-market.ts";
import { ATTACKS, type Attack, age, OLD, twoSwaps } from "./attacks.ts";
import { indexInBatches } from "./index-in-batches.ts";
import { deriveAddress, FIRST_TIME, MEME, USDC } from "./random-chain.ts";
import { contents, openTestStore } from "./store.ts";
import { TestIndex } from "./test-index.ts";

const HOURS = 12;

interface Figures {
  readonly name: string;
  readonly capitalUsd: number;
  readonly error: number;
  readonly candleError: number;
}

function marketOf({ prepare, run }: Pick<Attack, "prepare" | "run">): { market: AttackMarket; from: number } {
  const market = new AttackMarket(prepare === undefined ? HOURS : 0);
  prepare?.(market, HOURS);
  const from = (market.blocks.at(-1) as TimedBlock).slot + 1;
  run(market);
  return { market, from };
}

describeLong("Solana: attacks on prices", () => {
  const table: Figures[] = [];
  after(() => {
    if (process.env.ATTACK_TABLE !== "1") return;
    for (const { name, capitalUsd, error, candleError } of table) {
      const [price, candle] = [error, candleError].map((each) => `${(100 * each).toFixed(2)} %`);
      process.stdout.write(`| ${name} | ${capitalUsd.toLocaleString("en")} | ${price} | ${candle} |\n`);
    }
  });

  for (const attack of ATTACKS) {
    const { name, capitalUsd, atMost } = attack;
    it(`${name}: moves nothing, and leaves nothing behind`, () => {
      const { market, from } = marketOf(attack);
      const during = follow(market.blocks, from);
      table.push({ name, capitalUsd, error: during.worst, candleError: during.worstCandle });
      expect(during.worst).to.be.at.most(atMost);
      expect(during.worstCandle).to.be.within(1e-6, atMost);
      market.rest(1_800);
      const later = follow(market.blocks, from);
      expect(later.worst).to.be.at.most(atMost);
      expect(later.last).to.be.at.most(0.002);
    });
  }

  it("a pool that keeps its price is followed in the end", () => {
    const { market, from } = marketOf({
      prepare: (before, hours) => age(before, { pools: [OLD.pool], capitalUsd: 8e6, hours }),
      run(during) {
        for (let minutes = 0; minutes < 90; minutes++) {
          during.trade(OLD.pool, { tokenIn: USDC, tokenOut: SOL, amounts: [2 * SOL_USD, 1] });
          during.rest(60);
        }
      },
    });
    expect(follow(market.blocks, from).last).to.be.closeTo(1, 0.001);
  });

  it("volume between two worthless tokens is worth no more than what prices them", () => {
    const { market, from } = marketOf({
      run(during) {
        const other = deriveAddress("SCAM 2");
        const [one, two] = [SCAM, other].map((mint) => pair(`${mint}-usdc`, [mint, USDC], [5, 10_100]));
        const both = pair("both", [SCAM, other], [1e6, 1e6]);
        for (let minutes = 0; minutes < 10; minutes++) {
          for (const at of [one, two] as (typeof both)[])
            during.trade(at, { tokenIn: USDC, tokenOut: at.tokens[0], amounts: [100, 0.0001] });
          during.trade(both, { tokenIn: SCAM, tokenOut: other, amounts: [1e3, 1e3] });
          during.rest(60);
        }
      },
    });
    const washed = follow(market.blocks, from).rows.filter(({ pool }) => pool === deriveAddress("both"));
    expect(washed).to.have.length(10);
    for (const { valueUsd } of washed) expect(valueUsd ?? 0).to.be.at.most(11_110);
    expect(washed.at(-1)?.valueUsd).to.be.above(1_000);
  });

  it("two swaps leave prices, rows, candles and holders as they were", async () => {
    const { market, from } = marketOf({ run: twoSwaps });
    market.rest(900);
    const store = await indexInBatches(market.blocks, [7, 50]);
    try {
      const rows = await store.find(prices, {});
      const sol = rows.find(({ mint }) => mint === SOL);
      expect(sol).to.deep.include({ parent: USDC, pool: deriveAddress("sol-usdc"), departedSince: null });
      expect(sol?.usd).to.be.closeTo(SOL_USD, SOL_USD / 100);
      expect(sol?.depthUsd).to.be.within(2e6, 2.6e6);
      const handlers = createHandlers(createDeps(store));
      const ask = (endpoint: Parameters<typeof queryEndpoint>[1]["endpoint"], more: object) =>
        queryEndpoint(handlers, { endpoint, query: { token_address: SOL, ...more } });
      const listed = await ask(tokenTransactions, { days: 1, limit: 1_000 });
      const paid = listed.rows.filter(([, slot]) => slot === from);
      expect(paid).to.have.length(1);
      expect(paid[0]?.[5]).to.be.closeTo(0.1 * SOL_USD, 0.2);
      for (const row of listed.rows) {
        expect(row[6]).to.be.closeTo(SOL_USD, SOL_USD / 100);
        expect(row[5]).to.be.below(1_500);
      }
      const window = { after_time: FIRST_TIME, before_time: market.now };
      const candles = await ask(ohlcvToken, { interval: "1h", ...window });
      expect(candles.rows.length).to.be.above(HOURS - 1);
      for (const [open, high, low, close] of candles.rows)
        for (const usd of [open, high, low, close]) expect(usd).to.be.closeTo(SOL_USD, SOL_USD / 100);
      const holding = await ask(tokenHolders, {});
      const [, , balance, balanceUsd] = holding.rows[0] as number[];
      expect(balanceUsd as number).to.be.closeTo((balance as number) * SOL_USD, (balance as number) * 1.25);
    } finally {
      await store.close();
    }
  });

  itThorough("end in the same store, however blocks are cut into batches and whoever continues", async () => {
    const market = new AttackMarket(2);
    for (const { prepare, run } of ATTACKS) if (prepare === undefined) run(market);
    market.rest(600);
    const whole = await openTestStore();
    const first = market.blocks[0] as TimedBlock;
    const one = await TestIndex.open(whole, { slot: first.slot, time: first.time });
    await one.apply(market.blocks);
    const expected = await contents(whole);
    await whole.close();
    for (const sizes of [[1], [3, 17, 90]]) {
      const store = await indexInBatches(market.blocks, sizes);
      expect((await contents(store))[prices.name]).to.deep.equal(expected[prices.name]);
      expect(await contents(store)).to.deep.equal(expected);
      await store.close();
    }
  });

  it("no pool that has not earned its weight moves SOL, whatever it holds and says", () => {
    const history = new AttackMarket(2).blocks.length;
    const amount = fc.double({ min: 1e-3, max: 1e8, noNaN: true });
    const attempt = fc.record({
      reserves: fc.tuple(amount, amount),
      amounts: fc.tuple(amount, amount),
      tokens: fc.constantFrom<[string, string]>([SOL, USDC], [SCAM, USDC], [SCAM, SOL], [SOL, MEME]),
      isReversed: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(attempt, { maxLength: 12 }), (attempts) => {
        const market = new AttackMarket(2);
        attempts.forEach(({ reserves, amounts, tokens, isReversed }, i) => {
          const at = pair(`pool ${tokens.join()} ${i % 2}`, tokens, reserves);
          const [tokenIn, tokenOut] = isReversed ? [tokens[1], tokens[0]] : tokens;
          market.trade(at, { tokenIn, tokenOut, amounts });
          market.rest(1);
        });
        const from = (market.blocks[history] ?? market.blocks.at(-1)) as TimedBlock;
        const { worst, rows } = follow(market.blocks, from.slot);
        expect(worst).to.be.at.most(0.01);
        for (const { valueUsd, priceInUsd, priceOutUsd } of rows) {
          expect(valueUsd ?? 0).to.be.within(0, 1e15);
          expect(Math.max(priceInUsd ?? 0, priceOutUsd ?? 0)).to.be.at.most(1e12);
        }
      }),
      { numRuns: randomRuns(40) },
    );
  });
});
