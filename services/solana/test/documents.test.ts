import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { Cell } from "../../shared/contract/column.ts";
import { describeWithChain, randomRuns } from "../../shared/testkit/describe.ts";
import { poolTransactions, tokenHolders, tokenSecurity } from "../contract.ts";
import type { TokenDescription } from "../ingest/state/token-state.ts";
import type { TimedBlock } from "../ingest/timed-block.ts";
import type { MintExtensions } from "../metrics/mint-extensions.ts";
import { queryEndpoint } from "./ask.ts";
import { foldTrades } from "./fold-trades.ts";
import { MEME, POOLS, RARE, randomBlocks } from "./random-chain.ts";
import { DAY, description, pause, RUNS, type World, withIndexedWorld, world } from "./random-world.ts";
import type { Reference } from "./reference.ts";
import type { TestIndex } from "./test-index.ts";

/** Of the mint as it was read, with the mints and burns after that. */
function supplyOf(
  { blocks }: TestIndex,
  world: { mint: string; token: TokenDescription | undefined },
): bigint | null {
  if (world.token?.supply === null || world.token === undefined) return null;
  let { supply } = world.token;
  for (const { slot, transactions } of blocks) {
    if (slot <= (world.token.readSlot ?? 0)) continue;
    for (const event of transactions.flatMap(({ events }) => events)) {
      if (!("mint" in event) || event.mint !== world.mint) continue;
      supply += event.kind === "mint" ? event.amount : -event.amount;
      if (supply < 0n) supply = 0n;
    }
  }
  return supply;
}

/** Whether any transaction has named a token. */
function isMet(blocks: readonly TimedBlock[], mint: string): boolean {
  return JSON.stringify(blocks, (_, value) => (typeof value === "bigint" ? `${value}` : value)).includes(
    mint,
  );
}

function describedIn(world: World, mint: string): TokenDescription | undefined {
  if (mint !== MEME || world.described === null || world.blocks.length <= world.size) return undefined;
  const readSlot = (world.blocks[world.size]?.slot ?? 0) - 1;
  return isMet(world.blocks.slice(0, world.size), mint) ? { ...world.described, readSlot } : undefined;
}

describeWithChain("holders and security over random chains", () => {
  it("holders: every wallet with what it holds, its worth and share", async () => {
    const page = {
      mint: fc.constantFrom(MEME, RARE),
      limit: fc.integer({ min: 1, max: 5 }),
      offset: fc.nat(3),
    };
    await fc.assert(
      fc.asyncProperty(world, fc.array(fc.record(page), { minLength: 4 }), async (world, questions) => {
        await withIndexedWorld(world, async ({ handlers, index, reference }) => {
          for (const { mint, limit, offset } of questions) {
            const query = { program_id: mint, limit, offset };
            const { rows } = await queryEndpoint(handlers, { endpoint: tokenHolders, query });
            const token = describedIn(world, mint);
            const supply = supplyOf(index, { mint, token });
            const multiplier = multiplierOf(token);
            const priceUsd = reference.book.usd(mint, reference.headTime);
            const expected = reference.holders(mint).map(([owner, balance]) => {
              const whole = Number(`${balance}e-${mint === MEME ? 6 : 0}`);
              const worth = priceUsd === null || whole * priceUsd > 1e15 ? null : whole * priceUsd;
              return [
                ...[owner, Number(balance), whole * multiplier, worth],
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
      fc.asyncProperty(world, async (world) => {
        await withIndexedWorld(world, async ({ handlers, index, reference }) => {
          for (const mint of [MEME, RARE]) {
            const query = { token_address: mint };
            const { rows } = await queryEndpoint(handlers, { endpoint: tokenSecurity, query });
            if (!isMet(index.blocks, mint)) {
              expect(rows).to.deep.equal([]);
              continue;
            }
            const found = namedCells(rows[0] ?? []);
            const expected = securityOf({ world, index, reference, mint });
            for (const [name, value] of Object.entries(expected)) expectCell(found[name], { name, value });
            expect(Object.keys(found)).to.have.members([...Object.keys(expected), "isToken2022"]);
          }
        });
      }),
      { ...RUNS, numRuns: randomRuns(100) },
    );
  });
});

function namedCells(row: readonly Cell[]): Record<string, Cell> {
  return Object.fromEntries(tokenSecurity.columns.map(({ name }, i) => [name, row[i] as Cell]));
}

/** Numbers may differ by the order in which floats were added. */
function expectCell(found: Cell | undefined, { name, value }: { name: string; value: unknown }): void {
  if (typeof value === "number" && typeof found === "number")
    expect(found, name).to.be.closeTo(value, Math.abs(value) * 1e-9 + 1e-12);
  else expect(found, name).to.equal(value);
}

function securityOf(at: { world: World; index: TestIndex; reference: Reference; mint: string }) {
  const { mint, index, reference } = at;
  const token = describedIn(at.world, mint);
  const supply = supplyOf(index, { mint, token });
  const toWhole = (raw: bigint | number): number => Number(raw) / (mint === MEME ? 1e6 : 1);
  const balances = reference.holders(mint).map(([, balance]) => balance);
  const whole = balances.reduce((sum, each) => sum + each, 0n);
  const coverage = supply === null || supply === 0n ? null : Math.min(1, Number(whole) / Number(supply));
  const isKnown = coverage !== null && coverage >= 0.95;
  const multiplier = multiplierOf(token);
  const held = (count: number) =>
    !isKnown
      ? null
      : (100 * Number(balances.slice(0, count).reduce((sum, each) => sum + each, 0n))) / Number(supply);
  const rising = [...balances].reverse().map((each) => toWhole(each) * multiplier);
  const n = rising.length;
  const median = n % 2 === 1 ? rising[(n - 1) / 2] : ((rising[n / 2 - 1] ?? 0) + (rising[n / 2] ?? 0)) / 2;
  const day = dayOf(at);
  const top10 = held(10);
  return {
    address: mint,
    chain: "solana",
    symbol: token?.symbol ?? "",
    name: token?.name ?? "",
    totalSupply: supply === null ? null : toWhole(supply) * multiplier,
    holderCount: isKnown ? n : null,
    top5HolderConcentration: held(5),
    top10HolderConcentration: top10,
    top20HolderConcentration: held(20),
    top50HolderConcentration: held(50),
    medianBalance: n === 0 || !isKnown ? null : median,
    bottom10pctBalance: (isKnown && rising.find((each) => atMost(rising, each) * 10 >= n)) || null,
    top10pctBalance: (isKnown && rising.findLast((each) => atLeast(rising, each) * 10 >= n)) || null,
    transaction1dCount: day?.transactions ?? null,
    activeAccounts1dCount: day?.accounts ?? null,
    txUniquenessRatio: day === null || day.transactions === 0 ? null : day.accounts / day.transactions,
    priceVolatility30d: volatilityOf(reference, at),
    ...propertiesOf(token, top10),
    holdersCoverage: coverage,
  };
}

function multiplierOf(token: TokenDescription | undefined): number {
  return (token?.extensions as MintExtensions | null | undefined)?.scaledAmount?.newer ?? 1;
}

/** Of the extensions that random-world.ts gives tokens. */
function propertiesOf(token: TokenDescription | undefined, top10: number | null) {
  const { mintAuthority = null, freezeAuthority = null, mutableMetadata = null } = token ?? {};
  const extensions = (token?.extensions ?? null) as MintExtensions | null;
  const { transferFee, nonTransferable, permanentDelegate, scaledAmount } = extensions ?? {};
  const feeBps = transferFee === undefined ? 0 : transferFee.newerEpoch === 0 ? 50 : 25;
  const off = [
    ...[mintAuthority === null ? 0 : 30, freezeAuthority === null ? 0 : 20, mutableMetadata ? 10 : 0],
    ...[feeBps > 0 ? 10 : 0, nonTransferable ? 10 : 0, permanentDelegate ? 40 : 0, scaledAmount ? 5 : 0],
    Math.min(top10 ?? 0, 100) / 5,
  ];
  const score = Math.max(
    off.reduce((left, each) => left - each, 100),
    0,
  );
  const read = <T>(value: T): T | null => (extensions === null ? null : value);
  return {
    ...{ mintAuthority, freezeAuthority, mutableMetadata, transferFeeBps: read(feeBps) },
    nonTransferable: read(nonTransferable === true),
    securityScore: [top10, extensions, mutableMetadata].includes(null) ? null : score,
    permanentDelegate: permanentDelegate ?? null,
    ...{ transferHookProgram: null, transferHookAuthority: null, mintCloseAuthority: null },
    ...{ frozenByDefault: read(false), pausable: read(false), paused: read(false) },
    uiAmountMultiplier: read(scaledAmount?.newer ?? 1),
    uiAmountChanges: read(scaledAmount !== undefined),
    confidentialTransfers: read(false),
  };
}

function atMost(values: readonly number[], bound: number): number {
  return values.filter((value) => value <= bound).length;
}

function atLeast(values: readonly number[], bound: number): number {
  return values.filter((value) => value >= bound).length;
}

interface SecurityWorld {
  readonly world: World;
  readonly index: TestIndex;
  readonly mint: string;
  readonly reference: Reference;
}

function dayOf({ world, index, mint, reference }: SecurityWorld) {
  const start = Math.floor(reference.headTime / 60) * 60 + 60 - DAY;
  if (!world.isWhole && start <= index.checkpoint.fromTime) return null;
  const rows = reference.tokenRows.filter((row) => row.mint === mint && row.time >= start);
  const signatures = new Set(rows.map(({ signature }) => signature));
  const payers = index.blocks
    .flatMap(({ transactions }) => transactions)
    .filter(({ signature }) => signatures.has(signature))
    .map(({ feePayer }) => feePayer);
  return { transactions: rows.length, accounts: new Set(payers).size };
}

function volatilityOf(reference: Reference, { world, index, mint }: SecurityWorld): number | null {
  const end = Math.floor(reference.headTime / DAY) * DAY;
  const start = end - 30 * DAY;
  if (!world.isWhole && start <= index.checkpoint.fromTime) return null;
  const days = foldTrades(reference, mint, "1d");
  const closes: number[] = [];
  for (let day = start; day < end; day += DAY) {
    const candle = days.get(day);
    // Another world: what such a day shows depends on which contest came first in each part of it.
    fc.pre(candle !== "several contests");
    const close = candle?.close ?? closes.at(-1);
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
    const generated = {
      blocks,
      size: 10,
      described: { ...described, symbol: "MEME", extensions: {} },
      isWhole: false,
    };
    await withIndexedWorld(generated, async ({ handlers, reference }) => {
      const query = { pool_address: pool.address, days: 3_650, limit: 100, offset: 0 };
      const { rows } = await queryEndpoint(handlers, { endpoint: poolTransactions, query });
      expect(rows).to.have.length.above(3);
      expect(rows).to.deep.equal(reference.poolTransactions(query, (mint) => (mint === MEME ? "MEME" : "")));
    });
  });
});
