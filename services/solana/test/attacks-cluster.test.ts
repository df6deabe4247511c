import { expect } from "chai";
import { after, before, it } from "mocha";
import { createTestSolana, type TestSolana } from "../../../deploy/devnet/solana/testkit.ts";
import { INTERVALS } from "../../shared/contract/candle-params.ts";
import type { Store } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import { describeWithChain, itThorough, randomRuns } from "../../shared/testkit/describe.ts";
import { ohlcvToken } from "../contract.ts";
import type { DecodedTransaction } from "../decode/model.ts";
import { createHandlers } from "../handlers.ts";
import type { BlockReader } from "../ingest/read/decoded-block.ts";
import { createLocalReader } from "../ingest/read/reader.ts";
import { createDeps } from "../serve/deps.ts";
import { readPriceUsd } from "../serve/tokens/head-price.ts";
import { poolRows, tokenRows } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { queryEndpoint } from "./ask.ts";
import { AttackMarket, SOL, SOL_USD } from "./attack-market.ts";
import { ATTACKS, type Attack } from "./attacks.ts";
import { startTestIngest } from "./harness.ts";
import { deriveAddress, USDC } from "./random-chain.ts";

const TOLERANCE = 0.01;
const HOURS = 2;
/** Of the attack, and after it. */
const REST_S = 5_400;
const SPAN_S = HOURS * 3_600 + REST_S;
/** A slot every twenty seconds where all is checked. */
const SLOTS = randomRuns(SPAN_S / 20);
const STEP_S = Math.floor(SPAN_S / SLOTS);
/**
 * Not those that act in pools of another market, nor those with as much weight as the cluster's own pools: these differ by
 * some percent among themselves, so that the median moves between them with any further vote, honest or not.
 */
const LEFT_OUT = [
  ...["fresh pool", "two thirds", "push of", "leaves the others", "two colluding", "two old pools"],
  ...["in steps", "drained after"],
];
const TRIED = ATTACKS.filter(({ name }) => !LEFT_OUT.some((part) => name.includes(part)));

/** What an attacker does, by the seconds since his first trade in an old pool, or HOURS after that time without one. */
function eventsOf(attack: Attack): { seconds: number; events: DecodedTransaction["events"] }[] {
  const market = new AttackMarket(0, { transactions: [], solUsd: SOL_USD });
  const startS = attack.prepare === undefined ? HOURS * 3_600 : 0;
  const start = market.now;
  attack.prepare?.(market, HOURS);
  attack.run(market);
  return market.blocks.map(({ time, transactions }) => ({
    seconds: startS + time - start,
    events: transactions.at(-1)?.events ?? [],
  }));
}

/** The same with as many more dollars as SOL costs more; honest: at the price of SOL whatever it was. */
function repriced(event: DecodedTransaction["events"][number], to: { solUsd: number; isHonest: boolean }) {
  if (event.kind !== "trade") return event;
  const scale = (amount: bigint | null, mint: string) =>
    amount !== null && mint === USDC ? BigInt(Math.round((Number(amount) * to.solUsd) / SOL_USD)) : amount;
  const { tokenIn, tokenOut } = event;
  const amountIn = to.isHonest
    ? BigInt(Math.round((Number(event.amountOut) / 1e9) * to.solUsd * 1e6))
    : scale(event.amountIn, tokenIn);
  const [reserveIn, reserveOut] = [scale(event.reserveIn, tokenIn), scale(event.reserveOut, tokenOut)];
  const amountOut = scale(event.amountOut, tokenOut) as bigint;
  return { ...event, amountIn: amountIn as bigint, amountOut, reserveIn, reserveOut };
}

async function headTime(store: Store): Promise<number> {
  return (await getCheckpoint(store))?.time as number;
}

/** The cluster's blocks with one more transaction each. */
function insert(reader: BlockReader, added: ReadonlyMap<number, DecodedTransaction>): BlockReader {
  return {
    async blocks(range) {
      const read = await reader.blocks(range);
      return read.map((block) => {
        const own = added.get(block.slot);
        if (own === undefined) return block;
        const transactionIndex = Math.max(-1, ...block.transactions.map((each) => each.transactionIndex)) + 1;
        return { ...block, transactions: [...block.transactions, { ...own, transactionIndex }] };
      });
    },
  };
}

describeWithChain("Solana: attacks on the local cluster", () => {
  let solana: TestSolana;
  let slots: number[];
  let clean: Store;
  /** By slot. */
  const solUsd = new Map<number, number>();
  let signatures: ReadonlySet<string>;

  async function index(added: ReadonlyMap<number, DecodedTransaction>): Promise<Store> {
    const store = await openSqliteStore({ path: ":memory:" });
    const ingest = await startTestIngest(solana, {
      store,
      reader: (source) => insert(createLocalReader(source), added),
    });
    await ingest.catchUp();
    await ingest.close();
    return store;
  }

  before(async () => {
    solana = await createTestSolana({ seed: 7, transactions: 15, skipped: 0 });
    slots = solana.produce(SLOTS, { stepS: STEP_S }).map(({ slot }) => slot);
    clean = await index(new Map());
    const rows = await clean.find(poolRows, { fields: ["signature"] });
    signatures = new Set(rows.map(({ signature }) => signature));
    const prices = await clean.find(tokenRows, { filter: { mint: SOL }, fields: ["slot", "priceUsd"] });
    for (const { slot, priceUsd } of prices) if (priceUsd !== null) solUsd.set(slot, priceUsd);
    expect(solUsd.size).to.be.above(slots.length / 2);
  });
  after(async () => {
    await clean?.close();
    await solana?.stop();
  });

  /** By slot, at the cluster's price of the time. */
  function toTransactions(attack: Attack, isHonest: boolean): Map<number, DecodedTransaction> {
    const added = new Map<number, DecodedTransaction>();
    let usd = SOL_USD;
    let at = 0;
    const attempts = eventsOf(attack);
    slots.forEach((slot, i) => {
      usd = solUsd.get(slot) ?? usd;
      const events: DecodedTransaction["events"][number][] = [];
      for (; (attempts[at]?.seconds ?? Number.POSITIVE_INFINITY) < i * STEP_S; at++)
        for (const event of attempts[at]?.events ?? [])
          events.push({ ...repriced(event, { solUsd: usd, isHonest }), instructionIndex: events.length });
      if (events.length === 0) return;
      const signature = deriveAddress(`attack ${slot}`);
      const transaction = {
        transactionIndex: 0,
        signature,
        feePayer: "attacker",
        balances: [],
        disagreements: [],
      };
      added.set(slot, { ...transaction, events });
    });
    expect(added.size).to.be.above(0);
    return added;
  }

  /** Every number of the cluster's own trades, and of all candles of its tokens. */
  async function numbersOf(store: Store): Promise<Map<string, number | null>> {
    const numbers = new Map<string, number | null>();
    const mints = new Set<string>();
    for (const row of await store.find(poolRows, {})) {
      if (!signatures.has(row.signature)) continue;
      const place = `${row.slot}/${row.signature}/${row.instructionIndex}/${row.leg}`;
      numbers.set(`value of ${place}`, row.valueUsd);
      numbers.set(`price in ${place}`, row.priceInUsd);
      numbers.set(`price out ${place}`, row.priceOutUsd);
      for (const mint of [row.tokenIn, row.tokenOut]) if (mint !== "") mints.add(mint);
    }
    for (const mint of mints) await addCandles(numbers, { store, mint });
    return numbers;
  }

  async function addCandles(
    numbers: Map<string, number | null>,
    { store, mint }: { store: Store; mint: string },
  ): Promise<void> {
    const handlers = createHandlers(createDeps(store));
    const before_time = (await headTime(store)) + 1;
    numbers.set(`USD of ${mint}`, await readPriceUsd(store, { mint, time: before_time }));
    for (const interval of INTERVALS) {
      const after_time = before_time - (interval === "1m" ? 50_000 : 86_400);
      const query = { token_address: mint, interval, after_time, before_time };
      const { rows } = await queryEndpoint(handlers, { endpoint: ohlcvToken, query });
      for (const row of rows)
        for (const [i, name] of ["open", "high", "low", "close"].entries())
          numbers.set(`${name} of ${mint} ${interval} ${row[6]}`, row[i] as number);
    }
  }

  TRIED.forEach((attack, i) => {
    (i === 0 ? it : itThorough)(`${attack.name}: every number of the others stays within 1 %`, async () => {
      const store = await index(toTransactions(attack, false));
      // An old pool is one of the market: without the attack it trades as the others do.
      const without = attack.prepare === undefined ? clean : await index(toTransactions(attack, true));
      try {
        expect((await store.find(poolRows, { fields: ["signature"] })).length).to.be.above(signatures.size);
        const [found, expected] = [await numbersOf(store), await numbersOf(without)];
        expect(expected.size).to.be.above(1_000);
        for (const [what, number] of expected) {
          const actual = found.get(what) ?? null;
          if (number === null || actual === null) expect(actual, what).to.equal(number);
          else expect(actual, what).to.be.closeTo(number, Math.abs(number) * TOLERANCE);
        }
      } finally {
        await store.close();
        if (without !== clean) await without.close();
      }
    });
  });
});
