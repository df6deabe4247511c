import { expect } from "chai";
import fc from "fast-check";
import { afterEach, beforeEach, it } from "mocha";
import { put, type Store } from "../../shared/storage/port.ts";
import { describeLong } from "../../shared/testkit/describe.ts";
import { expectSame } from "../../shared/testkit/expect-same.ts";
import { PriceGraph } from "../price/graph.ts";
import type { PriceLink, TokenPrice } from "../price/link.ts";
import { address, CHAIN_ID, openTestStore } from "../test/kit/rows.ts";
import { ANCHORS, anyGraph, edgeOf, TOKENS } from "../test/prices/random-graph.ts";
import { priceLinks } from "./collections.ts";
import { readMarkedPrices, readPrices, toAnchorRows, toLink, toLinkRow } from "./price-links.ts";

const [USD, WETH, MEME, NONE] = [address(0xf0), address(2), address(3), address(4)];
const [A, B, C] = [address(0xa), address(0xb), address(0xc)];

const link = (options: Partial<PriceLink> & { token: string; parent: string }): PriceLink => ({
  pool: `${options.token}00`,
  side: 0,
  price: 2,
  hops: 1,
  support: { pool: "0xb0", depthUsd: 1e6, restUsd: 5e5 },
  departure: undefined,
  agreedUsd: undefined,
  ...options,
});

describeLong("price links", () => {
  let store: Store;
  let rounds: number;
  beforeEach(async () => {
    store = await openTestStore();
    rounds = 0;
  });
  afterEach(() => store.close());

  const write = (blockNumber: number, links: readonly (PriceLink | string)[]) =>
    store.write([
      put(
        priceLinks,
        links.map((each) =>
          toLinkRow(
            typeof each === "string" ? { token: each, link: undefined } : { token: each.token, link: each },
            { chainId: CHAIN_ID, blockNumber, time: 7 },
          ),
        ),
      ),
    ]);
  const counting = (): Store =>
    new Proxy(store, {
      get(target, name) {
        rounds += name === "getLast" ? 1 : 0;
        const value = Reflect.get(target, name) as unknown;
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  const usdAt = async (block: number, tokens: readonly string[]) =>
    Object.fromEntries(
      [...(await readPrices(counting(), { chainId: CHAIN_ID, tokens, block }))].map(([token, { usd }]) => [
        token,
        usd,
      ]),
    );

  it("are read from the store as they were written", async () => {
    const links = [
      link({
        ...{ token: A, parent: USD, side: 1, price: 1 / 3, hops: 3 },
        support: { pool: "0xb1", depthUsd: 1e300, restUsd: 5e-324 },
      }),
      link({
        ...{ token: B, parent: A, departure: { since: 1_700_000_000, usd: 0.1 + 0.2 } },
        agreedUsd: 0.1 + 0.7,
      }),
    ];
    await write(5, [...links, C]);
    await store.write([put(priceLinks, toAnchorRows([USD], { chainId: CHAIN_ID, blockNumber: 4, time: 7 }))]);
    const rows = await store.find(priceLinks, {});
    expect(rows.map(toLink)).to.deep.equal([...links, undefined, { anchorUsd: 1 }]);
  });

  it("give each block its prices, with only a token's own links stored", async () => {
    await store.write([put(priceLinks, toAnchorRows([USD], { chainId: CHAIN_ID, blockNumber: 9, time: 7 }))]);
    await write(10, [link({ token: WETH, parent: USD, price: 3_000 }), link({ token: MEME, parent: WETH })]);
    await write(12, [link({ token: WETH, parent: USD, price: 3_100 })]);
    await write(13, [MEME]);
    await write(15, [link({ token: MEME, parent: WETH, price: 4 }), WETH]);
    const tokens = [USD, WETH, MEME, NONE];
    expect(await usdAt(8, tokens)).to.deep.equal({});
    expect(await usdAt(9, tokens)).to.deep.equal({ [USD]: 1 });
    expect(await usdAt(10, tokens)).to.deep.equal({ [USD]: 1, [WETH]: 3_000, [MEME]: 6_000 });
    expect(await usdAt(11, tokens)).to.deep.equal({ [USD]: 1, [WETH]: 3_000, [MEME]: 6_000 });
    expect(await usdAt(12, tokens)).to.deep.equal({ [USD]: 1, [WETH]: 3_100, [MEME]: 6_200 });
    expect(await usdAt(14, tokens)).to.deep.equal({ [USD]: 1, [WETH]: 3_100 });
    expect(await usdAt(15, tokens), "what rests on a token without a price has none").to.deep.equal({
      [USD]: 1,
    });
    expect(await readPrices(store, { chainId: 1, tokens, block: 12 })).to.deep.equal(new Map());
  });

  it("are read in as many rounds as the longest path has tokens, whatever the number of tokens", async () => {
    const names = Array.from({ length: 500 }, (_, i) => address(0x1000 + i));
    await store.write([put(priceLinks, toAnchorRows([USD], { chainId: CHAIN_ID, blockNumber: 0, time: 7 }))]);
    await write(
      1,
      names.map((token, i) =>
        link({ token, parent: i % 4 === 0 ? USD : (names[i - 1] as string), price: 1.1 }),
      ),
    );
    const usd = await usdAt(9, names);
    expect(Object.keys(usd)).to.have.length(500);
    expect(usd[names[499] as string]).to.equal(1.1 * 1.1 * 1.1 * 1.1);
    expect(rounds, "all, then the anchor").to.equal(2);
    rounds = 0;
    const later = [names[3] as string, names[7] as string];
    expect(Object.keys(await usdAt(9, later))).to.deep.equal(later);
    expect(rounds).to.equal(5);
    rounds = 0;
    await usdAt(9, []);
    expect(rounds).to.equal(0);
  });

  it("tell the prices at the last full five minutes, of tokens that have lost theirs since too", async () => {
    const at = (blockNumber: number, time: number, links: readonly (PriceLink | string)[]) =>
      store.write([
        put(
          priceLinks,
          links.map((each) => {
            const change =
              typeof each === "string" ? { token: each, link: undefined } : { token: each.token, link: each };
            return toLinkRow(change, { chainId: CHAIN_ID, blockNumber, time });
          }),
        ),
      ]);
    const marked = async (block: number, time: number, priced: readonly string[]) => {
      const { usd } = await readMarkedPrices(store, { chainId: CHAIN_ID, block, time, priced });
      return Object.fromEntries([...usd].sort());
    };
    await store.write([put(priceLinks, toAnchorRows([USD], { chainId: CHAIN_ID, blockNumber: 0, time: 7 }))]);
    await at(1, 610, [link({ token: A, parent: USD }), link({ token: B, parent: A })]);
    await at(2, 899, [link({ token: A, parent: USD, price: 3 })]);
    await at(3, 900, [link({ token: A, parent: USD, price: 5 }), link({ token: C, parent: A })]);
    await at(4, 1_190, [B]);
    expect(await marked(4, 1_190, [USD, A, C])).to.deep.equal({ [USD]: 1, [A]: 3, [B]: 6 });
    expect(await marked(2, 899, [USD, A, B]), "the mark before").to.deep.equal({ [USD]: 1 });
    expect(await marked(4, 1_200, [USD, A, C])).to.deep.equal({ [USD]: 1, [A]: 5, [C]: 10 });
    expect(await marked(0, 200, [USD]), "nothing before").to.deep.equal({});
  });

  it("give at every block what the walk gave there, bit for bit", async () => {
    let priced = 0;
    await fc.assert(
      fc.asyncProperty(anyGraph, async ({ pairs, rules, blocks }) => {
        const own = await openTestStore();
        const graph = new PriceGraph(ANCHORS, rules);
        graph.update(0);
        await own.write([
          put(priceLinks, toAnchorRows(ANCHORS, { chainId: CHAIN_ID, blockNumber: 99, time: 7 })),
        ]);
        const expected: Map<string, TokenPrice>[] = [];
        for (const [i, block] of blocks.entries()) {
          for (const change of block) graph.set(edgeOf(pairs, change, i));
          graph.update(i);
          const rows = graph
            .takeLinks()
            .map((each) => toLinkRow(each, { chainId: CHAIN_ID, blockNumber: 100 + i, time: i }));
          await own.write([put(priceLinks, rows)]);
          expected.push(
            new Map(
              TOKENS.flatMap((token) => {
                const price = graph.price(token);
                return price === undefined ? [] : [[token, price] as const];
              }),
            ),
          );
        }
        for (const [i, prices] of expected.entries()) {
          const stored = await readPrices(own, { chainId: CHAIN_ID, tokens: TOKENS, block: 100 + i });
          const found = new Map([...stored].map(([token, { changedAt: _, ...price }]) => [token, price]));
          expectSame(found, prices, `block ${i}`);
          expect(found.get(ANCHORS[0] as string)).to.deep.equal({ usd: 1, hops: 0, link: undefined });
          priced += found.size - ANCHORS.length;
        }
        await own.close();
      }),
      { numRuns: 60 },
    );
    expect(priced, "prices compared").to.be.greaterThan(100);
  });
});
