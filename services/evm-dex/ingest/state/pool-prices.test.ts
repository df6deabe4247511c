import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { PriceLink } from "../../price/link.ts";
import type { V3State } from "../../protocols/v3/state.ts";
import { address } from "../../test/kit/rows.ts";
import {
  anyBlock,
  anyPairs,
  anyReserve,
  CREATED,
  entryOf,
  PoolModel,
  setState,
  touchPools,
  USDC,
} from "../../test/prices/pool-model.ts";
import { pricesIn } from "../../test/prices/walk-prices.ts";
import { AddressTable } from "./address-table.ts";
import type { PoolEntry } from "./pool-book.ts";
import { PoolPrices, pointOf } from "./pool-prices.ts";

describe("PoolPrices", () => {
  it("prices its anchors from the start, and nothing else", () => {
    const book = new PoolPrices([USDC, address(1)]);
    expect(book.usd(USDC)).to.equal(1);
    expect(book.usd(address(1))).to.equal(1);
    expect(book.usd(address(2))).to.equal(null);
    expect(book.graph.tokens()).to.deep.equal([USDC, address(1)]);
  });

  it("prices a token once its pool has a price and depth", () => {
    const book = new PoolPrices([USDC]);
    const token = address(0xb0);
    const entry = entryOf(1, { tokens: [token, USDC] });
    book.closeBlock([entry], 1_000);
    expect(book.usd(token), "before it is initialised").to.equal(null);
    setState(entry, { price: 4, reserves: [2_500, 9_999] });
    book.closeBlock([entry], 1_002);
    expect(book.usd(token), "below the depth").to.equal(null);
    setState(entry, { price: 4, reserves: [2_500, 10_000] });
    book.closeBlock([entry], 1_004);
    const { poolAddress } = entry.row;
    expect(book.price(token)).to.deep.include({ usd: 4, hops: 1 });
    expect(book.price(token)?.link).to.deep.include({
      pool: poolAddress,
      support: { pool: poolAddress, depthUsd: 9_216, restUsd: 0 },
    });
    setState(entry, { price: 4, reserves: [1e9, 9_000] });
    book.closeBlock([entry], 1_006);
    expect(book.usd(token), "drained").to.equal(null);
  });

  it("takes the smaller of reserves and virtual reserves for depth", () => {
    const token = address(0xb0);
    const depthWith = (liquidity: bigint) => {
      const book = new PoolPrices([USDC]);
      const entry = entryOf(1, { tokens: [token, USDC], price: 4, reserves: [1e6, 50_000] });
      entry.state = { ...(entry.state as V3State), liquidity };
      book.anchor(entry);
      book.closeBlock([entry], 1_000);
      return book.price(token)?.link?.support.depthUsd;
    };
    // √P is 2: L × √P USD on the side of USDC.
    expect(depthWith(10n ** 18n * 15_000n)).to.equal(28_672);
    expect(depthWith(10n ** 18n * 40_000n)).to.equal(49_152);
    expect(depthWith(10n ** 18n * 4_000n)).to.equal(undefined);
  });

  it("trusts a price that jumped only after it has held, also without a further event", () => {
    const book = new PoolPrices([USDC]);
    const token = address(0xb0);
    const entry = entryOf(1, { tokens: [token, USDC], price: 4 });
    const other = entryOf(2, { tokens: [address(0xb1), USDC], price: 1 });
    book.closeBlock([entry], 1_000);
    setState(entry, { price: 9, reserves: [1e6, 1e6] });
    book.closeBlock([entry], 2_000);
    expect(book.usd(token)).to.equal(4);
    book.closeBlock([other], 2_149);
    expect(book.usd(token)).to.equal(4);
    book.closeBlock([other], 2_151);
    expect(book.usd(token)).to.equal(9);
  });

  it("is not moved by a deep pool that is pushed away for two minutes, nor are prices derived from it", () => {
    const book = new PoolPrices([USDC]);
    const [token, other] = [address(0xb0), address(0xb1)];
    const main = entryOf(1, { tokens: [token, USDC], price: 4 });
    const beyond = entryOf(2, { tokens: [other, token], price: 9 });
    book.closeBlock([main, beyond], 1_000);
    expect([book.usd(token), book.usd(other)]).to.deep.equal([4, 36]);
    for (let second = 2; second <= 120; second += 2) {
      setState(main, { price: second % 4 === 0 ? 4e6 : 4e-6, reserves: [1e6, 1e6] });
      const changes = book.closeBlock([main], 2_000 + second);
      expect([book.usd(token), book.usd(other)], `${second}`).to.deep.equal([4, 36]);
      expect(changes.every(({ link }) => [4, 9].includes((link as PriceLink).price))).to.equal(true);
    }
    setState(main, { price: 4, reserves: [1e6, 1e6] });
    expect(book.closeBlock([main], 2_122)).to.deep.equal([]);
  });

  it("ignores shallow pools, whatever their price: no price and no link changes", () => {
    const claims = fc.array(
      fc.record({
        price: fc.constantFrom(1e-9, 1e-3, 0.5, 2, 1e3, 1e9),
        // Of the token that has a price less than 10,000 USD, of the other any amount.
        reserves: fc.tuple(fc.integer({ min: 0, max: 2_499 }), fc.constantFrom(0, 1, 9_999, 1e9)),
        seconds: fc.constantFrom(0, 2, 400),
        reversed: fc.boolean(),
      }),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(claims, (list) => {
        const [known, unknown] = [address(0xb0), address(0xb1)];
        const main = entryOf(1, { tokens: [known, USDC], price: 4 });
        const shallow = [
          entryOf(2, { tokens: [known, unknown] }),
          entryOf(3, { tokens: [unknown, known] }),
          entryOf(4, { tokens: [known, USDC] }),
        ];
        const book = new PoolPrices([USDC]);
        book.anchor(main);
        book.closeBlock([main], 1_000);
        let time = 1_000;
        for (const { price, reserves, seconds, reversed } of list) {
          time += seconds;
          const [few, many] = reserves;
          setState(shallow[0] as PoolEntry, { price, reserves: [few, many] });
          setState(shallow[1] as PoolEntry, { price, reserves: [many, few] });
          setState(shallow[2] as PoolEntry, { price, reserves: [few, Math.min(many, 9_999)] });
          const touched = reversed ? [...shallow].reverse() : shallow;
          expect(book.closeBlock(touched, time)).to.deep.equal([]);
          expect([book.usd(known), book.usd(unknown)]).to.deep.equal([4, null]);
        }
      }),
    );
  });

  it("starts a pool from the price it had before its first event here", () => {
    const token = address(0xb0);
    const entry = entryOf(1, { tokens: [token, USDC], price: 4 });
    const book = new PoolPrices([USDC]);
    book.anchor(entry);
    setState(entry, { price: 9, reserves: [1e6, 1e6] });
    book.closeBlock([entry], 2_000);
    expect(book.usd(token)).to.equal(4);
    const without = new PoolPrices([USDC]);
    without.anchor(entryOf(1, { tokens: [token, USDC] }));
    without.closeBlock([entry], 2_000);
    expect(without.usd(token)).to.equal(9);
  });
});

function loadBoth(
  entry: PoolEntry,
  { fast, slow, pools, now }: { fast: PoolPrices; slow: PoolPrices; pools: AddressTable; now: number },
): void {
  const { row, protocol, lastBlock, lastTime } = entry;
  const number = pools.add(row.poolAddress);
  const state = protocol.write(entry.state);
  fast.loadResting({ number, row, protocol, state, lastBlock, lastTime }, now);
  const point = pointOf(entry, lastBlock < 0 ? 0 : lastTime);
  if (point !== undefined) slow.loadPool(entry, [point], now);
}

describe("PoolPrices over random blocks", () => {
  it("has the prices of a naive walk over all pools at every block", () => {
    fc.assert(
      fc.property(anyPairs, fc.array(anyBlock, { maxLength: 25 }), (pairs, blocks) => {
        const entries = pairs.map((tokens, n) => entryOf(n, { tokens }));
        const book = new PoolPrices([USDC]);
        const model = new PoolModel();
        let time = CREATED;
        for (const each of blocks) {
          time += each.seconds;
          const touched = touchPools(entries, each, time);
          book.closeBlock(touched, time);
          expect(pricesIn(book.graph).prices).to.deep.equal(model.close(touched, time));
        }
      }),
      { numRuns: 120 },
    );
  });

  it("continues the same after it was loaded from the store", () => {
    fc.assert(
      fc.property(anyPairs, fc.array(anyBlock, { minLength: 4, maxLength: 16 }), (pairs, blocks) => {
        const entries = pairs.map((tokens, n) => entryOf(n, { tokens }));
        let book = new PoolPrices([USDC]);
        const model = new PoolModel();
        let time = CREATED;
        for (const [i, each] of blocks.entries()) {
          time += each.seconds;
          const touched = touchPools(entries, each, time);
          book.closeBlock(touched, time);
          const expected = model.close(touched, time);
          if (i % 3 === 2) {
            const links = book.graph.links();
            book = new PoolPrices([USDC]);
            for (const [entry, points] of model.stored()) book.loadPool(entry, points, time);
            book.resume(links, time, model.marked(time));
          }
          expect(pricesIn(book.graph).prices).to.deep.equal(expected);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("loads pools at rest by their stored texts as it does by their entries", () => {
    const lastTimes = fc.constantFrom(300, 301, 450, 599, 600, 601, 100_000, CREATED);
    const anyPools = fc.array(
      fc.tuple(fc.nat(7), lastTimes, fc.boolean(), anyReserve, fc.constantFrom(0.5, 9)),
      {
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(anyPairs, anyPools, fc.array(anyBlock, { maxLength: 6 }), (pairs, stored, blocks) => {
        const now = CREATED + 1_000_000;
        const pools = new AddressTable();
        const [fast, slow] = [new PoolPrices([USDC], { pools }), new PoolPrices([USDC])];
        const entries = pairs.map((tokens, n) => entryOf(n, { tokens }));
        for (const [at, age, isOlder, held, price] of stored) {
          const entry = entries[at % entries.length] as PoolEntry;
          setState(entry, { price, reserves: [held, 1e6] });
          entry.lastTime = now - age;
          entry.lastBlock = isOlder ? -1 : 5;
        }
        for (const entry of entries) loadBoth(entry, { fast, slow, pools, now });
        const [links, marked] = [new Map(), { now, usd: new Map() }];
        for (const book of [fast, slow]) book.resume(links, now, marked);
        let time = now;
        for (const each of blocks) {
          time += each.seconds;
          const touched = touchPools(entries, each, time);
          expect(fast.closeBlock(touched, time)).to.deep.equal(slow.closeBlock(touched, time));
        }
        for (const { row } of entries)
          expect(fast.graph.edge(row.poolAddress)).to.deep.equal(slow.graph.edge(row.poolAddress));
        expect(fast.activeCount).to.equal(slow.activeCount);
        expect(fast.rewind(now - 100, new Set())).to.deep.equal(slow.rewind(now - 100, new Set()));
      }),
      { numRuns: 200 },
    );
  });
});
