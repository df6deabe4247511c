import { expect } from "chai";
import { describe, it } from "mocha";
import type { SolanaTransaction, TransactionMeta } from "../../chain/port.ts";
import { decodeBlock } from "../decode.ts";
import type { DecodedTransaction, Trade } from "../model.ts";
import { expectedRows } from "./expected.ts";
import {
  hasRecorded,
  needRecorded,
  type Recorded,
  readFixtures,
  readRecordedTransactions,
} from "./recorded.ts";

const DEX_OF: Readonly<Record<string, string>> = {
  raydium: "raydium",
  orca: "orca",
  meteora: "meteora",
  pump: "pumpfun",
  pumpswap: "pumpfun",
};

describe("recorded transactions", () => {
  const recorded = hasRecorded() ? readRecordedTransactions() : [];
  const expected = expectedRows();

  it("are all there", function () {
    needRecorded(this);
    const signatures = new Set(recorded.map(({ transaction }) => transaction.transaction?.signatures[0]));
    expect([...expected.keys()].filter((signature) => !signatures.has(signature))).to.deep.equal([]);
    expect(recorded).to.have.length(74);
  });

  for (const { file, transaction } of recorded) {
    const rows = expected.get(transaction.transaction?.signatures[0] ?? "") ?? [];
    it(`${file}: ${rows.length === 0 ? "no rows" : `${rows.length} rows`}`, () => {
      const [decoded] = decodeOne(transaction).transactions;
      const events = decoded?.events ?? [];
      expect(events).to.have.length(rows.length);
      for (const [i, row] of rows.entries()) {
        if (row.kind === "mint") expect(events[i]).to.deep.include({ ...row, leg: 0, accountCount: 3 });
        else {
          const account = row.account === "payer" ? decoded?.feePayer : row.account;
          const dex = DEX_OF[row.program.split("-")[0] as string];
          expect(events[i]).to.deep.include({ ...row, account, dex, leg: 0 });
        }
      }
      expect(decoded?.disagreements ?? []).to.deep.equal([]);
    });
  }

  it("failed transactions and values that are no transactions give no rows; only the latter are counted", function () {
    needRecorded(this);
    const { transactions, broken } = decodeBlock({
      ...EMPTY_BLOCK,
      transactions: recorded.filter(isNegative).map(({ transaction }) => transaction),
    });
    expect(transactions).to.deep.equal([]);
    expect(broken.map(({ reason }) => reason)).to.deep.equal([
      "A transaction came without its meta.",
      "Instruction 0 names program 6 of 2 accounts.",
    ]);
    expect(broken[1]?.signature).to.match(/^F47c3CizgWhK8/);
  });

  it("amounts are those by which balances changed", function () {
    needRecorded(this);
    let held = 0;
    for (const { transaction } of recorded) {
      const [decoded] = decodeOne(transaction).transactions;
      if (decoded !== undefined) held += holdAgainstBalances(decoded, transaction);
    }
    expect(held).to.equal(55);
  });
});

/** Recorded without its message: keys that were not loaded from tables, and top-level instructions, are made up. */
describe("a recorded transaction's meta", () => {
  it("crates_core__cpi_tx.json: a swap of OKX's router, as in the router's own log", function () {
    needRecorded(this);
    const [first] = readFixtures<TransactionMeta>("carbon-instruction-fixtures", (name) =>
      name.endsWith("__cpi_tx.json"),
    );
    const meta = first?.fixture as TransactionMeta;
    const loaded =
      (meta.loadedAddresses?.writable.length ?? 0) + (meta.loadedAddresses?.readonly.length ?? 0);
    const accountKeys = Array.from({ length: meta.preBalances.length - loaded }, (_, at) => `static ${at}`);
    const instructions = new Array(4).fill({ programIdIndex: 0, accounts: [], data: "" });
    const transaction = { signatures: ["made up"], message: { accountKeys, instructions } };
    const { transactions, broken } = decodeOne({ transaction, meta });
    expect(broken).to.deep.equal([]);
    expect(transactions[0]?.disagreements).to.deep.equal([]);
    expect(transactions[0]?.events).to.have.length(1);
    expect(transactions[0]?.events[0]).to.deep.include({
      kind: "trade",
      instructionIndex: 4,
      program: "meteora-dlmm",
      pool: "BMCheVSdKZ6rxsoJ1MChA5HQRtk5pz4QkCLs7MXFkvZJ",
      tokenIn: "AFbX8oGjGpmVFywbVouvhQSRmiW2aR1mohfahi4Y2AdB",
      amountIn: 9_372_599_925_000n,
      tokenOut: "7i5KKsX2weiTkry7jA4ZwSuXGhs5eJBEjY8vVxR4pfRx",
      amountOut: 1_700_985_700_449n,
    });
  });
});

const EMPTY_BLOCK = {
  slot: 1,
  blockhash: "",
  previousBlockhash: "",
  parentSlot: 0,
  blockTime: null,
  transactions: [],
};

function decodeOne(transaction: SolanaTransaction) {
  return decodeBlock({ ...EMPTY_BLOCK, transactions: [transaction] });
}

function isNegative({ file, transaction }: Recorded): boolean {
  return file.includes("broken_data") || transaction.meta?.err != null;
}

/** Rent of a bonding curve that the transaction itself created or enlarged, which its trades do not count. */
const CURVE_RENT: Readonly<Record<string, bigint>> = {
  CQrqvWERJtEjw2rCCQV6EqfM6V6jzTuKjhJjKNFmGB7r: 1_231_920n,
  "9hgcsTpZP48Ttku3uhg5gZ388YFCfErayJ5rHSru9PF7": 1_691_280n,
  "3jJ83NDorkbFkF1JKbEfFWGeX16aXUiwby9RwJm9kat3": 1_691_280n + 250_560n,
};
const SUPPLY_OF_NEW_CURVE = 1_000_000_000_000_000n;

/** All trades of a pool together: some accounts gained and lost just what they say. Returns how many trades. */
function holdAgainstBalances(decoded: DecodedTransaction, { transaction, meta }: SolanaTransaction): number {
  if (meta === null) throw new Error("no meta");
  const trades = decoded.events.filter((event) => event.kind === "trade");
  for (const pool of new Set(trades.map((trade) => trade.pool))) {
    const ofPool = trades.filter((trade) => trade.pool === pool);
    const [first] = ofPool as [Trade];
    const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);
    const gained = sum(ofPool.map(({ amountIn }) => amountIn));
    const lost = sum(ofPool.map(({ amountOut }) => amountOut));
    const changes = changesOf(meta);
    const lamports = lamportsOf(pool, transaction.message.accountKeys, meta);
    const isNewCurve = decoded.events.some((event) => event.kind === "mint" && event.mint === first.tokenOut);
    const gains = [...changes(first.tokenIn), ...lamports];
    const losses = [...changes(first.tokenOut), ...lamports].map((change) => -change);
    expect(gains, `${decoded.signature} ${pool}`).to.include(gained);
    expect(losses, `${decoded.signature} ${pool}`).to.include(lost - (isNewCurve ? SUPPLY_OF_NEW_CURVE : 0n));
  }
  return trades.length;
}

function changesOf(meta: TransactionMeta): (mint: string) => bigint[] {
  const before = new Map(meta.preTokenBalances?.map((balance) => [balance.accountIndex, balance]));
  const after = new Map(meta.postTokenBalances?.map((balance) => [balance.accountIndex, balance]));
  const amount = (balance: { uiTokenAmount: { amount: string } } | undefined) =>
    BigInt(balance?.uiTokenAmount.amount ?? 0);
  return (mint) =>
    [...new Set([...before.keys(), ...after.keys()])]
      .filter((index) => (after.get(index) ?? before.get(index))?.mint === mint)
      .map((index) => amount(after.get(index)) - amount(before.get(index)));
}

function lamportsOf(pool: string, keys: readonly string[], meta: TransactionMeta): bigint[] {
  const index = [...keys, ...(meta.loadedAddresses?.writable ?? [])].indexOf(pool);
  const change = (meta.postBalances[index] as number) - (meta.preBalances[index] as number);
  return [BigInt(change) - (CURVE_RENT[pool] ?? 0n)];
}
