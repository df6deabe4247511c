import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { Cell } from "../../shared/contract/column.ts";
import type { HandlerTable } from "../../shared/host/handlers.ts";
import { ohlcvToken, poolTransactions, tokenHolders, tokenSecurity } from "../contract.ts";
import { INTERVAL_SECONDS, INTERVALS, type Interval } from "../endpoints/candle-params.ts";
import { createHandlers } from "../handlers.ts";
import type { DecodedBlock } from "../ingest/indexer-block.ts";
import type { TokenDescription } from "../ingest/state/token-book.ts";
import { createDeps } from "../serve/deps.ts";
import { ask } from "./ask.ts";
import { planned } from "./planned-store.ts";
import { addressOf, FIRST_SLOT, MEME, MINTS, POOLS, RARE, randomBlocks } from "./random-chain.ts";
import { Reference } from "./reference.ts";
import { openTestStore } from "./store.ts";
import { TestIndex } from "./test-index.ts";

const DAY = 86_400;
/** 1970-01-05, a Monday. */
const FIRST_MONDAY = 4 * DAY;
const RUNS = { numRuns: 30, interruptAfterTimeLimit: 60_000 };
const percent = fc.nat(100).map((found) => found / 100);

/** Minutes and hours, or months. */
const pause = fc.oneof(fc.nat(2), fc.nat(90), fc.nat(5_000), fc.nat(20_000));
const [near, far] = [pause, fc.oneof(pause, fc.nat(3 * DAY), fc.nat(2 * DAY))].map((each) =>
  randomBlocks({ name: "main", pause: each, minLength: 5, maxLength: 60 }),
);
const chain = fc.oneof(near as fc.Arbitrary<DecodedBlock[]>, far as fc.Arbitrary<DecodedBlock[]>);

const description: fc.Arbitrary<TokenDescription> = fc.record({
  symbol: fc.constantFrom("MEME", "$x", ""),
  name: fc.constantFrom("Meme coin", ""),
  decimals: fc.constant(6),
  supply: fc.option(fc.constantFrom(0n, 10n ** 9n, 10n ** 12n, 2n ** 64n - 1n), { freq: 8 }),
  mintAuthority: fc.option(fc.constant(addressOf("authority"))),
  freezeAuthority: fc.option(fc.constant(addressOf("authority"))),
  isToken2022: fc.boolean(),
  transferFeeBps: fc.option(fc.constantFrom(0, 50), { freq: 8 }),
  nonTransferable: fc.option(fc.boolean(), { freq: 8 }),
  mutableMetadata: fc.option(fc.boolean(), { freq: 8 }),
  readSlot: fc.constant(FIRST_SLOT),
});

interface World {
  readonly blocks: DecodedBlock[];
  readonly size: number;
  /** What the accounts of MEME's mint say, if they are ever read. */
  readonly described: TokenDescription | null;
  /** Whether the index begins with the chain. */
  readonly isWhole: boolean;
}
const world: fc.Arbitrary<World> = fc.record({
  blocks: chain,
  size: fc.integer({ min: 1, max: 20 }),
  described: fc.option(description, { freq: 3 }),
  isWhole: fc.boolean(),
});

interface Indexed {
  readonly handlers: HandlerTable;
  readonly reference: Reference;
  readonly index: TestIndex;
}

async function inWorld(of: World, look: (at: Indexed) => Promise<void>): Promise<void> {
  const store = await openTestStore();
  try {
    // As of slot 0 nothing was before the index.
    const index = await TestIndex.open(
      store,
      of.isWhole ? { slot: 0, time: of.blocks[0]?.time ?? 0 } : undefined,
    );
    for (let at = 0; at < of.blocks.length; at += of.size) {
      const part = of.blocks.slice(at, at + of.size);
      // A token is described once it was met.
      const isMet = at > 0 && at <= of.size;
      if (isMet && of.described !== null) {
        const readSlot = (part[0]?.slot ?? 0) - 1;
        await index.indexer.tokens.describe(new Map([[MEME, { ...of.described, readSlot }]]));
      }
      await index.apply(part);
    }
    const handlers = createHandlers(createDeps(planned(store)));
    await look({ handlers, index, reference: new Reference(index.blocks) });
  } finally {
    await store.close();
  }
}

function startOf(time: number, interval: Interval): number {
  const seconds = INTERVAL_SECONDS[interval];
  const origin = interval === "1w" ? FIRST_MONDAY : 0;
  return Math.floor((time - origin) / seconds) * seconds + origin;
}

interface Candle {
  open: number;
  high: number;
  low: number;
  close: number;
  volumeUsd: number;
  volumeToken: number;
  trades: number;
}

/** Of each candle's trades, one after the other. */
function foldTrades(reference: Reference, mint: string, interval: Interval): Map<number, Candle> {
  const candles = new Map<number, Candle>();
  for (const { time, priceUsd, valueUsd, amount, ...trade } of reference.trades) {
    if (trade.mint !== mint) continue;
    const start = startOf(time, interval);
    const known = candles.get(start);
    const value = Math.round(valueUsd * 2 ** 20) / 2 ** 20;
    candles.set(start, {
      open: known?.open ?? priceUsd,
      high: Math.max(known?.high ?? 0, priceUsd),
      low: Math.min(known?.low ?? Number.POSITIVE_INFINITY, priceUsd),
      close: priceUsd,
      volumeUsd: (known?.volumeUsd ?? 0) + value,
      volumeToken: (known?.volumeToken ?? 0) + amount,
      trades: (known?.trades ?? 0) + 1,
    });
  }
  return candles;
}

function expectCandles(rows: readonly (readonly Cell[])[], expected: readonly [number, Candle][]): void {
  const cells = expected.map(([start, { open, high, low, close, volumeUsd, volumeToken, trades }]) => [
    ...[open, high, low, close, volumeUsd, volumeToken, start, trades],
  ]);
  const found = rows.map((row) => row.filter((_, column) => column !== 7));
  const exact = (row: readonly Cell[]) => row.filter((_, column) => column !== 4 && column !== 5);
  expect(found.map(exact)).to.deep.equal(cells.map(exact));
  found.forEach((row, i) => {
    const [usd, token] = [cells[i]?.[4] as number, cells[i]?.[5] as number];
    // Multiples of 2^-20 are added exactly below 2^33; other sums of floats depend on their order.
    if (usd < 2 ** 33) expect(row[4]).to.equal(usd);
    expect(row[4]).to.be.closeTo(usd, usd * 1e-12);
    expect(row[5]).to.be.closeTo(token, token * 1e-12);
  });
}

describe("candles over random chains", function () {
  this.timeout(120_000);

  const question = fc.record({
    token_address: fc.constantFrom(...MINTS),
    interval: fc.constantFrom(...INTERVALS),
    from: percent,
    candles: fc.integer({ min: 1, max: 1_000 }),
  });

  it("are those of the trades, in each of the 13 intervals", async () => {
    await fc.assert(
      fc.asyncProperty(world, fc.array(question, { minLength: 8 }), async (of, questions) => {
        await inWorld(of, async ({ handlers, index, reference }) => {
          const { fromTime, fromSlot } = index.checkpoint;
          for (const { token_address, interval, from, candles } of questions) {
            const after = fromTime - DAY + Math.floor(from * (reference.headTime - fromTime + 2 * DAY));
            const before = after + candles * INTERVAL_SECONDS[interval];
            const query = { token_address, interval, after_time: after, before_time: before };
            const { rows, version } = await ask(handlers, { endpoint: ohlcvToken, query });
            const all = foldTrades(reference, token_address, interval);
            const expected = [...all].filter(
              ([start]) => start >= after && start < before && (of.isWhole || start > fromTime),
            );
            expect(rows.every((row) => row[7] === interval)).to.equal(true);
            expectCandles(rows, expected);
            expect(version?.fromBlock).to.equal(fromSlot);
          }
        });
      }),
      RUNS,
    );
  });

  it("agree: a coarse one is its fine ones", async () => {
    await fc.assert(
      fc.asyncProperty(world, fc.constantFrom(...INTERVALS), async (of, interval) => {
        await inWorld(of, async ({ handlers, reference, index }) => {
          const { fromTime } = index.checkpoint;
          const read = async (each: Interval, [after_time, before_time]: readonly [number, number]) => {
            const query = { token_address: MINTS[1], interval: each, after_time, before_time };
            return (await ask(handlers, { endpoint: ohlcvToken, query })).rows;
          };
          const seconds = INTERVAL_SECONDS[interval];
          const first = startOf(fromTime, interval) + seconds;
          for (let start = first; start <= reference.headTime; start += seconds) {
            const coarse = await read(interval, [start, start + seconds]);
            const hours = INTERVALS.filter((each) => seconds % INTERVAL_SECONDS[each] === 0);
            for (const fine of hours.filter((each) => seconds / INTERVAL_SECONDS[each] <= 1_000)) {
              const parts = await read(fine, [start, start + seconds]);
              if (parts.length === 0) {
                expect(coarse).to.deep.equal([]);
                continue;
              }
              const numbers = (column: number) => parts.map((row) => row[column] as number);
              const sum = (column: number) => numbers(column).reduce((total, each) => total + each, 0);
              expectCandles(coarse, [
                [
                  start,
                  {
                    open: parts[0]?.[0] as number,
                    high: Math.max(...numbers(1)),
                    low: Math.min(...numbers(2)),
                    close: parts.at(-1)?.[3] as number,
                    volumeUsd: sum(4),
                    volumeToken: sum(5),
                    trades: sum(8),
                  },
                ],
              ]);
            }
          }
        });
      }),
      RUNS,
    );
  });
});

/** Of the mint as it was read, with the mints and burns after that. */
function supplyOf(
  { blocks }: TestIndex,
  of: { mint: string; token: TokenDescription | undefined },
): bigint | null {
  if (of.token?.supply === null || of.token === undefined) return null;
  let { supply } = of.token;
  for (const { slot, transactions } of blocks) {
    if (slot <= (of.token.readSlot ?? 0)) continue;
    for (const event of transactions.flatMap(({ events }) => events)) {
      if (!("mint" in event) || event.mint !== of.mint) continue;
      supply += event.kind === "mint" ? event.amount : -event.amount;
      if (supply < 0n) supply = 0n;
    }
  }
  return supply;
}

/** Whether any transaction has told of a token. */
function isMet(blocks: readonly DecodedBlock[], mint: string): boolean {
  return JSON.stringify(blocks, (_, value) => (typeof value === "bigint" ? `${value}` : value)).includes(
    mint,
  );
}

function describedIn(of: World, mint: string): TokenDescription | undefined {
  if (mint !== MEME || of.described === null || of.blocks.length <= of.size) return undefined;
  const readSlot = (of.blocks[of.size]?.slot ?? 0) - 1;
  return isMet(of.blocks.slice(0, of.size), mint) ? { ...of.described, readSlot } : undefined;
}

describe("holders and security over random chains", function () {
  this.timeout(120_000);

  it("holders: every wallet with what it holds, its worth and share", async () => {
    const page = {
      mint: fc.constantFrom(MEME, RARE),
      limit: fc.integer({ min: 1, max: 5 }),
      offset: fc.nat(3),
    };
    await fc.assert(
      fc.asyncProperty(world, fc.array(fc.record(page), { minLength: 4 }), async (of, questions) => {
        await inWorld(of, async ({ handlers, index, reference }) => {
          for (const { mint, limit, offset } of questions) {
            const query = { program_id: mint, limit, offset };
            const { rows } = await ask(handlers, { endpoint: tokenHolders, query });
            const token = describedIn(of, mint);
            const supply = supplyOf(index, { mint, token });
            const priceUsd = reference.book.usd(mint, reference.headTime);
            const expected = reference.holders(mint).map(([owner, balance]) => {
              const whole = Number(`${balance}e-${mint === MEME ? 6 : 0}`);
              return [
                ...[owner, Number(balance), whole, priceUsd === null ? null : whole * priceUsd],
                supply === null || supply === 0n ? null : Number(balance) / Number(supply),
              ];
            });
            expect(rows).to.deep.equal(expected.slice(offset, offset + limit));
          }
        });
      }),
      RUNS,
    );
  });

  it("security: figures of holders, of a day and of 30 days, and a score", async () => {
    await fc.assert(
      fc.asyncProperty(world, async (of) => {
        await inWorld(of, async ({ handlers, index, reference }) => {
          for (const mint of [MEME, RARE]) {
            const query = { token_address: mint };
            const { rows } = await ask(handlers, { endpoint: tokenSecurity, query });
            if (!isMet(index.blocks, mint)) {
              expect(rows).to.deep.equal([]);
              continue;
            }
            const found = namedCells(rows[0] ?? []);
            const expected = securityOf({ of, index, reference, mint });
            for (const [name, value] of Object.entries(expected)) expectCell(found[name], { name, value });
            expect(Object.keys(found)).to.have.members([...Object.keys(expected), "isToken2022"]);
          }
        });
      }),
      { ...RUNS, numRuns: 100 },
    );
  });
});

function namedCells(row: readonly Cell[]): Record<string, Cell> {
  return Object.fromEntries(tokenSecurity.columns.map(({ name }, i) => [name, row[i] as Cell]));
}

/** Numbers may differ by the order in which floats were added. */
function expectCell(found: Cell | undefined, { name, value }: { name: string; value: unknown }): void {
  if (typeof value === "number" && typeof found === "number")
    expect(found, name).to.be.closeTo(value, Math.abs(value) * 1e-9);
  else expect(found, name).to.equal(value);
}

function securityOf(at: { of: World; index: TestIndex; reference: Reference; mint: string }) {
  const { mint, index, reference } = at;
  const token = describedIn(at.of, mint);
  const supply = supplyOf(index, { mint, token });
  const toWhole = (raw: bigint | number): number => Number(raw) / (mint === MEME ? 1e6 : 1);
  const balances = reference.holders(mint).map(([, balance]) => balance);
  const held = (count: number) =>
    supply === null || supply === 0n
      ? null
      : (100 * Number(balances.slice(0, count).reduce((sum, each) => sum + each, 0n))) / Number(supply);
  const rising = [...balances].reverse().map(toWhole);
  const n = rising.length;
  const median = n % 2 === 1 ? rising[(n - 1) / 2] : ((rising[n / 2 - 1] ?? 0) + (rising[n / 2] ?? 0)) / 2;
  const day = dayOf(at);
  const top10 = held(10);
  return {
    address: mint,
    chain: "solana",
    symbol: token?.symbol ?? "",
    name: token?.name ?? "",
    totalSupply: supply === null ? null : toWhole(supply),
    holderCount: n,
    top5HolderConcentration: held(5),
    top10HolderConcentration: top10,
    top20HolderConcentration: held(20),
    top50HolderConcentration: held(50),
    medianBalance: n === 0 ? null : median,
    bottom10pctBalance: rising.find((each) => atMost(rising, each) * 10 >= n) ?? null,
    top10pctBalance: rising.findLast((each) => atLeast(rising, each) * 10 >= n) ?? null,
    transaction1dCount: day?.transactions ?? null,
    activeAccounts1dCount: day?.accounts ?? null,
    txUniquenessRatio: day === null || day.transactions === 0 ? null : day.accounts / day.transactions,
    priceVolatility30d: volatilityOf(reference, at),
    ...propertiesOf(token, top10),
  };
}

function propertiesOf(token: TokenDescription | undefined, top10: number | null) {
  const { mintAuthority = null, freezeAuthority = null } = token ?? {};
  const { transferFeeBps = null, nonTransferable = null, mutableMetadata = null } = token ?? {};
  const told = { mintAuthority, freezeAuthority, transferFeeBps, nonTransferable, mutableMetadata };
  const needed = [top10, transferFeeBps, nonTransferable, mutableMetadata];
  const off = [
    ...[mintAuthority === null ? 0 : 30, freezeAuthority === null ? 0 : 20],
    ...[mutableMetadata ? 10 : 0, transferFeeBps ? 10 : 0, nonTransferable ? 10 : 0],
    Math.min(top10 ?? 0, 100) / 5,
  ];
  const score = off.reduce((left, each) => left - each, 100);
  return { ...told, securityScore: needed.includes(null) ? null : score };
}

function atMost(values: readonly number[], bound: number): number {
  return values.filter((value) => value <= bound).length;
}

function atLeast(values: readonly number[], bound: number): number {
  return values.filter((value) => value >= bound).length;
}

interface SecurityWorld {
  readonly of: World;
  readonly index: TestIndex;
  readonly mint: string;
  readonly reference: Reference;
}

function dayOf({ of, index, mint, reference }: SecurityWorld) {
  const start = Math.floor(reference.headTime / 60) * 60 + 60 - DAY;
  if (!of.isWhole && start <= index.checkpoint.fromTime) return null;
  const rows = reference.tokenRows.filter((row) => row.mint === mint && row.time >= start);
  const signatures = new Set(rows.map(({ signature }) => signature));
  const payers = index.blocks
    .flatMap(({ transactions }) => transactions)
    .filter(({ signature }) => signatures.has(signature))
    .map(({ feePayer }) => feePayer);
  return { transactions: rows.length, accounts: new Set(payers).size };
}

function volatilityOf(reference: Reference, { of, index, mint }: SecurityWorld): number | null {
  const end = Math.floor(reference.headTime / DAY) * DAY;
  const start = end - 30 * DAY;
  if (!of.isWhole && start <= index.checkpoint.fromTime) return null;
  const days = foldTrades(reference, mint, "1d");
  const closes: number[] = [];
  for (let day = start; day < end; day += DAY) {
    const close = days.get(day)?.close ?? closes.at(-1);
    if (close !== undefined) closes.push(close);
  }
  if (closes.length < 3) return null;
  const returns = closes.slice(1).map((close, i) => Math.log(close) - Math.log(closes[i] as number));
  const mean = returns.reduce((sum, each) => sum + each, 0) / returns.length;
  const squares = returns.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  return Math.sqrt(squares / (returns.length - 1));
}

describe("symbols in pools' lists", () => {
  it("are those of the tokens' metadata", async () => {
    const [, , pool] = POOLS;
    const [blocks] = fc.sample(randomBlocks({ name: "main", pause, minLength: 30, maxLength: 30 }), {
      numRuns: 1,
      seed: 7,
    });
    const [described] = fc.sample(description, { numRuns: 1, seed: 7 });
    if (blocks === undefined || described === undefined || pool === undefined) throw new Error("No sample.");
    const of = { blocks, size: 10, described: { ...described, symbol: "MEME" }, isWhole: false };
    await inWorld(of, async ({ handlers, reference }) => {
      const query = { pool_address: pool.address, days: 3_650, limit: 100, offset: 0 };
      const { rows } = await ask(handlers, { endpoint: poolTransactions, query });
      expect(rows).to.have.length.above(3);
      expect(rows).to.deep.equal(reference.poolTransactions(query, (mint) => (mint === MEME ? "MEME" : "")));
    });
  });
});
