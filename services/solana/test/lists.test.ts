import { expect } from "chai";
import fc from "fast-check";
import { it } from "mocha";
import type { HandlerTable } from "../../shared/service/handlers.ts";
import { describeWithChain, randomRuns } from "../../shared/testkit/describe.ts";
import {
  poolTransactions,
  poolTransactionsTimeBounded,
  tokenMintBurnTransactions,
  tokenTransactions,
  tokenTransactionsTimeBounded,
} from "../contract.ts";
import { EXCHANGES } from "../endpoints/params.ts";
import { createHandlers } from "../handlers.ts";
import type { TimedBlock } from "../ingest/timed-block.ts";
import { lowerBoundOfClass } from "../metrics/value-class.ts";
import { createDeps } from "../serve/deps.ts";
import { type TokenTransactionRow, TX_TYPES } from "../store/collections.ts";
import { queryEndpoint } from "./ask.ts";
import { refuseScans } from "./planned-store.ts";
import { FIRST_TIME, MEME, MINTS, POOLS, RARE, randomBlocks } from "./random-chain.ts";
import { Reference } from "./reference.ts";
import { openTestStore } from "./store.ts";
import { TestIndex } from "./test-index.ts";

/** Evenly spread, as fc.double is not. */
const percent = (max: number) => fc.nat(max).map((found) => found / 100);

/** Blocks of one second, of a minute, of days: windows of days have edges within. */
const pause = fc.oneof(fc.constantFrom(0, 0, 1), fc.nat(90), fc.nat(50_000));
const chain = randomBlocks({ name: "main", pause, minLength: 20, maxLength: 40 });
/** Somewhere in a chain, or a little before or after it. */
const place = fc.oneof(fc.constantFrom(0, 1), percent(100));
/** Where in its list a page begins: at its beginning, within, a little beyond its end. */
const page = {
  limit: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant(100)),
  at: fc.oneof(fc.constant(0), percent(110)),
};

/** The page of a list that the reference has as a whole. */
function pageOf(
  { limit, at }: { limit: number; at: number },
  whole: (page: { limit: number; offset: number }) => readonly unknown[],
): { limit: number; offset: number } {
  return { limit, offset: Math.floor(at * whole({ limit: 1_000, offset: 0 }).length) };
}

/** One end, both or none. */
const ends = fc.record({
  days: fc.integer({ min: 1, max: 14 }),
  kind: fc.constantFrom("none", "none", "none", "after", "before", "both", "both"),
  from: place,
  length: place,
});
type Ends = typeof ends extends fc.Arbitrary<infer T> ? T : never;

function boundsOf({ from, length }: Ends, headTime: number): { after_time: number; before_time: number } {
  const span = headTime - FIRST_TIME + 20;
  const after_time = FIRST_TIME - 10 + Math.floor(from * span);
  return { after_time, before_time: after_time + 1 + Math.floor(length * span) };
}

function windowOf(ends: Ends, headTime: number) {
  const { after_time, before_time } = boundsOf(ends, headTime);
  return {
    days: ends.days,
    ...((ends.kind === "both" || ends.kind === "after") && { after_time }),
    ...((ends.kind === "both" || ends.kind === "before") && { before_time }),
  };
}

/** Round, where classes of value begin, or close to what a row of the token is worth: then its class cannot decide. */
const minValue = fc.oneof(
  fc.constantFrom(0, 1, 5, 100, 1_000),
  fc.integer({ min: 1, max: 220 }).map(lowerBoundOfClass),
  fc.record({ at: place, factor: fc.constantFrom(1, 0.999, 1.001) }),
);

function minValueOf(
  found: typeof minValue extends fc.Arbitrary<infer T> ? T : never,
  rows: readonly TokenTransactionRow[],
): number {
  const value =
    typeof found === "number"
      ? found
      : (rows[Math.floor(found.at * (rows.length - 1))]?.valueUsd ?? 1) * found.factor;
  // As a text in plain decimal digits.
  return value < 1e-6 ? 0 : Number(Math.min(value, 1e15).toPrecision(12));
}

const maybe = <T>(one: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 2, arbitrary: one });
const mint = fc.constantFrom(...MINTS);
const pool = fc.constantFrom(...POOLS).map(({ address }) => address);

const tokenQuery = fc.record({
  token_address: mint,
  tx_type: maybe(fc.constantFrom(...TX_TYPES)),
  dex: maybe(fc.constantFrom(...EXCHANGES)),
  pool_address: maybe(pool),
  min_value_usd: maybe(minValue),
  ...page,
});

const SORTABLE = tokenMintBurnTransactions.columns.map(({ name }) => name);
const order = fc
  .tuple(fc.subarray(SORTABLE, { maxLength: 3 }), fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }))
  .chain(([columns, descend]) =>
    fc
      .shuffledSubarray(columns, { minLength: columns.length })
      .map((mixed) => mixed.map((column, i) => (descend[i] ? `-${column}` : column))),
  );

interface World {
  readonly blocks: TimedBlock[];
  readonly sizes: readonly number[];
  readonly segmentRows: number;
  /** Whether the ingest counts segments, or this test does, which leaves none open. */
  readonly isKept: boolean;
  readonly finalLag: number;
  /** After which batches rows are dropped for their age, up to which part of the chain. */
  readonly dropped: number | undefined;
}
const world: fc.Arbitrary<World> = fc.record({
  blocks: chain,
  sizes: fc.array(fc.integer({ min: 1, max: 6 })),
  segmentRows: fc.integer({ min: 1, max: 7 }),
  isKept: fc.boolean(),
  finalLag: fc.nat(6),
  dropped: fc.option(fc.nat(20), { nil: undefined, freq: 3 }),
});

/**
 * Indexes a chain batch by batch, counts segments after each, and hands over the index in the middle and at the end,
 * behind the same service: what that keeps in memory must stay right.
 */
async function inWorld(
  generated: World,
  look: (at: { index: TestIndex; handlers: HandlerTable; reference: Reference }) => Promise<void>,
): Promise<void> {
  const store = await openTestStore();
  const handlers = createHandlers(createDeps(refuseScans(store)));
  try {
    const index = await TestIndex.open(store);
    if (generated.isKept) index.keepSegments(generated.segmentRows);
    for (let at = 0, n = 0; at < generated.blocks.length; n++) {
      const size = generated.sizes[n] ?? 3;
      await index.apply(generated.blocks.slice(at, at + size), { finalLag: generated.finalLag });
      at += size;
      if (!generated.isKept) await index.countSegments(generated.segmentRows);
      const old = generated.dropped === undefined ? undefined : generated.blocks[generated.dropped];
      if (
        old !== undefined &&
        old.slot > index.checkpoint.rowsFromSlot &&
        old.slot <= index.checkpoint.finalizedSlot
      )
        await index.dropRowsBefore(old);
      if (n === 2 || at >= generated.blocks.length)
        await look({ index, handlers, reference: referenceOf(index) });
    }
  } finally {
    await store.close();
  }
}

function referenceOf(index: TestIndex): Reference {
  return new Reference(index.blocks, { rowsFromSlot: index.checkpoint.rowsFromSlot });
}

/** Many queries of each chain, each of some time range. */
function questions<T>(query: fc.Arbitrary<T>): fc.Arbitrary<[T, Ends][]> {
  return fc.array(fc.tuple(query, ends), { minLength: 10, maxLength: 25 });
}
/** A counterexample is shrunk for so long at most, in milliseconds. */
const RUNS = { numRuns: randomRuns(40), interruptAfterTimeLimit: 60_000 };

describeWithChain("lists of transactions over random chains", () => {
  it("token-transactions: the rows of the token's list that satisfy every filter", async () => {
    await fc.assert(
      fc.asyncProperty(world, questions(tokenQuery), async (generated, questioned) => {
        await inWorld(generated, async ({ index, handlers, reference }) => {
          for (const [question, when] of questioned) {
            const { limit, at, min_value_usd: least, ...filters } = question;
            const ofToken = reference.tokenRows.filter((row) => row.mint === question.token_address);
            const unpaged = {
              ...filters,
              ...windowOf(when, reference.headTime),
              ...(least !== undefined && { min_value_usd: minValueOf(least, ofToken) }),
            };
            const page = pageOf({ limit, at }, (one) => reference.tokenTransactions({ ...unpaged, ...one }));
            const query = { ...unpaged, ...page };
            const { rows, version } = await queryEndpoint(handlers, { endpoint: tokenTransactions, query });
            expect(rows, JSON.stringify(query)).to.deep.equal(reference.tokenTransactions(query));
            expect(version).to.deep.equal({
              block: index.checkpoint.slot,
              time: index.checkpoint.time,
              blockHash: index.checkpoint.blockhash,
              fromBlock: index.checkpoint.rowsFromSlot,
            });
          }
        });
      }),
      RUNS,
    );
  });

  it("token-transactions-time-bounded: buys and sells of the range alone", async () => {
    const token = fc.record({ token_address: mint, ...page });
    await fc.assert(
      fc.asyncProperty(world, questions(token), async (generated, questioned) => {
        await inWorld(generated, async ({ handlers, reference }) => {
          for (const [question, when] of questioned) {
            const { limit, at, ...filters } = question;
            const unpaged = { ...filters, ...boundsOf(when, reference.headTime) };
            const page = pageOf({ limit, at }, (one) => reference.buysAndSells({ ...unpaged, ...one }));
            const query = { ...unpaged, ...page };
            const { rows } = await queryEndpoint(handlers, { endpoint: tokenTransactionsTimeBounded, query });
            expect(rows, JSON.stringify(query)).to.deep.equal(reference.buysAndSells(query));
          }
        });
      }),
      RUNS,
    );
  });

  it("pool-transactions, and within a range of time: every row of the pool", async () => {
    const ofPool = fc.record({ pool_address: pool, ...page });
    await fc.assert(
      fc.asyncProperty(world, questions(ofPool), async (generated, questioned) => {
        await inWorld(generated, async ({ handlers, reference }) => {
          for (const [question, when] of questioned) {
            const isLately = when.kind === "none";
            const endpoint = isLately ? poolTransactions : poolTransactionsTimeBounded;
            const { limit, at, ...filters } = question;
            const unpaged = {
              ...filters,
              ...(isLately ? { days: when.days } : boundsOf(when, reference.headTime)),
            };
            const page = pageOf({ limit, at }, (one) => reference.poolTransactions({ ...unpaged, ...one }));
            const query = { ...unpaged, ...page };
            const { rows } = await queryEndpoint(handlers, { endpoint, query });
            expect(rows, JSON.stringify(query)).to.deep.equal(reference.poolTransactions(query));
          }
        });
      }),
      RUNS,
    );
  });

  it("token-mint-burn-transactions: in any order of columns", async () => {
    const token = fc.record({ token_address: fc.constantFrom(MEME, RARE), order, ...page });
    await fc.assert(
      fc.asyncProperty(world, questions(token), async (generated, questioned) => {
        await inWorld(generated, async ({ handlers, reference }) => {
          for (const [{ order: terms, limit, at, ...filters }, when] of questioned) {
            const unpaged = { ...filters, ...boundsOf(when, reference.headTime) };
            const page = pageOf({ limit, at }, (one) =>
              reference.mintsAndBurns({ ...unpaged, ...one }, terms),
            );
            const query = { ...unpaged, ...page };
            const order_asc = terms.map((term) => (term.startsWith("-") ? "" : term)).join(",");
            const order_desc = terms.map((term) => (term.startsWith("-") ? term.slice(1) : "")).join(",");
            const sent = { ...query, ...(terms.length > 0 && { order_asc, order_desc }) };
            const { rows } = await queryEndpoint(handlers, {
              endpoint: tokenMintBurnTransactions,
              query: sent,
            });
            expect(rows, JSON.stringify(sent)).to.deep.equal(reference.mintsAndBurns(query, terms));
          }
        });
      }),
      RUNS,
    );
  });
});
