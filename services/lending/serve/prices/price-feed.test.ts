import { expect } from "chai";
import { beforeEach, describe, it } from "mocha";
import { ServiceError } from "../../../shared/errors.ts";
import type { PriceSource, PricesRequest } from "../../../shared/grpc/types.ts";
import { pricesOf } from "../../test/answers.ts";
import { address } from "../../test/fake-protocol.ts";
import { timeOf } from "../../test/stored.ts";
import { PriceFeed } from "./price-feed.ts";
import { mergePrices, NO_PRICES } from "./price-table.ts";

const [USDC, WETH, NOPE] = [address(1), address(2), address(3)];
const TOKENS = new Set([WETH, USDC, NOPE]);
const STALE_SECONDS = 600;
const head = (blockNumber: number) => ({ blockNumber, blockTime: timeOf(blockNumber) });

/** evm-dex: blocks 100 to `head` of one chain, or what is thrown instead. */
class FakeSource implements PriceSource {
  head = 1_000;
  isIndexed = true;
  failure: Error | undefined;
  readonly requests: PricesRequest[] = [];
  prices = new Map<string, number>([
    [USDC, 1],
    [WETH, 2_000],
  ]);

  async getPrices(request: PricesRequest) {
    this.requests.push(request);
    if (this.failure !== undefined) throw this.failure;
    const block = request.block ?? this.head;
    if (!this.isIndexed || block > this.head) throw new ServiceError("not_found", "not indexed");
    const prices = request.tokens.map((token) => ({
      ...{ token, usd: this.prices.get(token) ?? null },
      ...{ hops: 1, depthUsd: 1 },
    }));
    return { block, blockTime: timeOf(block), prices };
  }
}

const ORACLES = {
  quotes: new Map([[WETH, { usd: 1_990, source: "aave", ageSeconds: 0 } as const]]),
  lagSeconds: 0,
};

describe("PriceFeed", () => {
  let source: FakeSource;
  let nowMs: number;
  let changes: { error: unknown; hadPrices: boolean }[];
  let book: PriceFeed;
  beforeEach(() => {
    source = new FakeSource();
    nowMs = 5_000;
    changes = [];
    book = new PriceFeed({
      ...{ chainId: 8453, source, staleSeconds: STALE_SECONDS, now: () => nowMs },
      onChange: (options) => changes.push(options),
      retry: { times: 2, pauseMs: 1 },
    });
  });
  const refresh = (blockNumber: number, tokens: ReadonlySet<string> = TOKENS) =>
    book.refresh({ head: head(blockNumber), tokens });
  const usd = (blockNumber: number) =>
    [USDC, WETH, NOPE].map((token) => book.tableFor(head(blockNumber)).usdOf(token));

  it("has no prices before the first response, and is stale", () => {
    expect(book.tableFor(head(200))).to.equal(NO_PRICES);
    expect(book.staleness(head(200))).to.equal("prices");
    expect(book.isFailing).to.equal(false);
  });

  it("requests prices at the tables' block", async () => {
    await refresh(200);
    expect(source.requests).to.deep.equal([{ chainId: 8453, tokens: [USDC, WETH, NOPE], block: 200 }]);
    expect(usd(200)).to.deep.equal([1, 2_000, Number.NaN]);
    expect(book.staleness(head(200))).to.equal(undefined);
    expect(book.isAt(head(200))).to.equal(true);
    expect(changes).to.deep.equal([{ error: undefined, hadPrices: false }]);
  });

  it("requests at most 500 tokens at a time, all at one block", async () => {
    source.head = 150;
    const tokens = new Set(Array.from({ length: 1_203 }, (_, n) => address(n)));
    await refresh(200, tokens);
    const last = source.requests.slice(-3);
    expect(last.map((request) => [request.block, request.tokens.length])).to.deep.equal([
      [undefined, 500],
      [150, 500],
      [150, 203],
    ]);
    expect(new Set(last.flatMap((request) => request.tokens))).to.deep.equal(tokens);
    expect(book.isAt(head(200))).to.equal(false);
    expect(book.isAt(head(150))).to.equal(true);
  });

  it("waits a little for a block that evm-dex does not have yet, as long as that helps", async () => {
    source.head = 199;
    const answer = source.getPrices.bind(source);
    source.getPrices = async (request) => {
      if (request.block === 200 && source.requests.length === 2) source.head = 200;
      return answer(request);
    };
    await refresh(200);
    expect(source.requests.map(({ block }) => block)).to.deep.equal([200, undefined, 200]);
    expect(book.isAt(head(200))).to.equal(true);
    source.requests.length = 0;
    await refresh(201);
    await refresh(201);
    await refresh(202);
    const [three, once] = [
      [201, undefined, 201, undefined, 201, undefined],
      [201, undefined],
    ];
    expect(source.requests.map(({ block }) => block)).to.deep.equal([...three, ...once, 202, undefined]);
  });

  it("does not wait for what evm-dex will never have", async () => {
    source.isIndexed = false;
    await refresh(200);
    expect(source.requests.map(({ block }) => block)).to.deep.equal([200, undefined]);
    source.requests.length = 0;
    source.getPrices = async (request) => {
      source.requests.push(request);
      if (request.block !== undefined) throw new ServiceError("not_found", "before the first indexed block");
      return { block: 500, blockTime: timeOf(500), prices: [] };
    };
    await refresh(200);
    expect(source.requests.map(({ block }) => block)).to.deep.equal([200, undefined]);
    expect(book.staleness(head(200))).to.equal(undefined);
  });

  it("keeps its table as long as prices are the same, and tags equal prices alike", async () => {
    await refresh(200);
    const table = book.tableFor(head(200));
    await refresh(201);
    expect(book.tableFor(head(201))).to.equal(table);
    source.prices.set(WETH, 2_001);
    await refresh(201);
    expect(book.tableFor(head(201)).tag).not.to.equal(table.tag);
    const same = pricesOf(Object.fromEntries([...source.prices].reverse()));
    expect(book.tableFor(head(201)).tag).to.equal(same.tag);
  });

  it("goes on with the last prices for ten minutes, saying how old they are, and then without", async () => {
    await refresh(200);
    source.failure = new ServiceError("unavailable", "gone");
    nowMs += 2_000;
    await refresh(201);
    await refresh(201);
    expect(changes.slice(1), "an outage is reported once").to.deep.equal([
      { error: source.failure, hadPrices: true },
    ]);
    expect(book.isFailing).to.equal(true);
    expect(book.staleness(head(201))).to.equal("prices; age=2");
    nowMs += 597_999;
    expect(usd(499)).to.deep.equal([1, 2_000, Number.NaN]);
    expect(book.staleness(head(499))).to.equal("prices; age=599");
    nowMs += 1_002;
    expect(book.tableFor(head(500))).to.equal(NO_PRICES);
    expect(book.staleness(head(500))).to.equal("prices; age=601");
    source.failure = undefined;
    await refresh(500);
    expect(usd(500)).to.deep.equal([1, 2_000, Number.NaN]);
    expect(book.staleness(head(500))).to.equal(undefined);
    expect(changes).to.have.length(3);
    expect(changes[2]).to.deep.equal({ error: undefined, hadPrices: true });
  });

  it("keeps all of the last prices where a part of the new ones fails", async () => {
    const tokens = new Set(Array.from({ length: 501 }, (_, n) => address(n)));
    await refresh(200, tokens);
    const table = book.tableFor(head(200));
    const answer = source.getPrices.bind(source);
    source.getPrices = async (request) => {
      if (request.tokens.length < 500) throw new ServiceError("unavailable", "gone");
      return answer(request);
    };
    await refresh(201, tokens);
    expect(book.isFailing).to.equal(true);
    expect(book.tableFor(head(200))).to.equal(table);
  });

  it("has no prices and is not stale for a chain that evm-dex does not index: oracles price it", async () => {
    source.isIndexed = false;
    await refresh(200);
    const table = book.tableFor(head(200));
    expect(table.usdOf(WETH)).to.deep.equal(Number.NaN);
    expect(book.staleness(head(200))).to.equal(undefined);
    expect(book.isFailing).to.equal(false);
    source.failure = new Error("gone");
    nowMs += 3_600_000;
    await refresh(201);
    expect(book.tableFor(head(201)), "prices it never returned cannot be too old").to.equal(table);
    expect(book.tableFor(head(201), ORACLES).usdOf(WETH), "an oracle counts").to.equal(1_990);
    expect(book.staleness(head(201))).to.equal(undefined);
    expect(book.staleness(head(201), 7), "an oracle was read earlier").to.equal("prices; age=7");
  });

  it("uses the prices of a head that is behind, says how old they are, and not those of long ago", async () => {
    source.head = 180;
    await refresh(200);
    expect(usd(200)).to.deep.equal([1, 2_000, Number.NaN]);
    expect(book.staleness(head(200))).to.equal("prices; age=40");
    expect(book.tableFor(head(200)).of(WETH)).to.deep.equal({ usd: 2_000, source: "dex", ageSeconds: 40 });
    expect(book.staleness(head(211))).to.equal("prices; age=62");
    const far = head(180 + STALE_SECONDS / 2 + 1);
    expect(book.staleness(far)).to.equal("prices; age=602");
    expect(book.tableFor(far).usdOf(WETH)).to.deep.equal(Number.NaN);
    expect(book.tableFor(far, ORACLES).usdOf(WETH), "an oracle counts").to.equal(1_990);
  });
});

describe("prices of the walk and of oracles", () => {
  const walk = { usd: new Map([[USDC, 1]]), anchors: new Set([USDC]) };
  const saying = (quotes: Record<string, number>) => ({
    quotes: new Map(
      Object.entries(quotes).map(([token, usd]) => [token, { usd, source: "aave", ageSeconds: 0 } as const]),
    ),
    lagSeconds: 0,
  });

  it("are one a token: the walk's first, then an oracle's", () => {
    const table = mergePrices(walk, {
      oracles: saying({ [USDC]: 0.9998, [WETH]: 2_000 }),
      walkLagSeconds: 4,
    });
    expect(table.of(USDC)).to.deep.equal({ usd: 1, source: "dex", ageSeconds: 4 });
    expect(table.of(WETH)).to.deep.equal({ usd: 2_000, source: "aave", ageSeconds: 0 });
    expect(table.of(NOPE)).to.equal(undefined);
  });

  it("do not hold a stablecoin at 1 USD where an oracle says that it has lost its peg", () => {
    const table = mergePrices(walk, { oracles: saying({ [USDC]: 0.88 }), walkLagSeconds: 0 });
    expect(table.of(USDC)).to.deep.equal({ usd: 0.88, source: "aave", ageSeconds: 0 });
  });

  it("are none where those of the walk expired, not even of oracles", async () => {
    expect([NO_PRICES.usdOf(WETH), NO_PRICES.usdOf(USDC)]).to.deep.equal([Number.NaN, Number.NaN]);
  });
});
