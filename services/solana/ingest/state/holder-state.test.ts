import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { Store } from "../../../shared/storage/port.ts";
import { holderAccounts, holders } from "../../store/token-collections.ts";
import { openTestStore } from "../../test/store.ts";
import type { TimedBlock } from "../timed-block.ts";
import { writeChanges } from "./document-cache.ts";
import { HolderState } from "./holder-state.ts";

const change = fc.record({
  mint: fc.constantFrom("A", "B"),
  owner: fc.constantFrom("x", "y", null),
  account: fc.nat(14),
  amount: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function blockOf(changes: readonly Change[]): TimedBlock {
  const balances = changes.map(({ mint, owner, account, amount }) => ({
    mint,
    owner,
    tokenAccount: `${mint} ${owner} ${account}`,
    decimals: 6,
    isToken2022: false,
    before: 0n,
    after: amount,
  }));
  const transaction = {
    transactionIndex: 0,
    signature: "s",
    feePayer: "p",
    events: [],
    balances,
    disagreements: [],
  };
  return { slot: 1, parentSlot: 0, blockhash: "h", time: 1, transactions: [transaction] };
}

const NUMBERS: Readonly<Record<string, number>> = { A: 1, B: 2 };

/** Applies batches, each second one by another process; returns how many wallets were counted, and what they hold. */
async function applyAll(store: Store, batches: readonly (readonly Change[])[]) {
  const counts: Record<string, number> = { A: 0, B: 0 };
  const held: Record<string, bigint> = { A: 0n, B: 0n };
  // A token has no number before its first batch is added.
  const known = new Set<string>();
  const numberOf = (mint: string) => (known.has(mint) ? NUMBERS[mint] : undefined);
  let book = new HolderState(store, numberOf);
  for (const [i, changes] of batches.entries()) {
    if (i % 2 === 1) book = new HolderState(store, numberOf);
    const block = blockOf(changes);
    await book.load([block]);
    for (const { mint } of changes) known.add(mint);
    for (const { mint, before, after } of book.add(block)) {
      counts[mint] = (counts[mint] ?? 0) + (before === 0n ? 1 : 0) - (after === 0n ? 1 : 0);
      held[mint] = (held[mint] ?? 0n) + after - before;
    }
    const taken = book.take();
    await store.write([
      ...writeChanges(holders, taken.holders),
      ...writeChanges(holderAccounts, taken.holderAccounts),
    ]);
  }
  return { counts, held };
}

/** What every account holds in the end, by `mint owner account`. */
function lastAmounts(batches: readonly (readonly Change[])[]): Map<string, bigint> {
  const amounts = new Map<string, bigint>();
  for (const { mint, owner, account, amount } of batches.flat())
    if (owner !== null) amounts.set(`${mint} ${owner} ${account}`, amount);
  return new Map([...amounts].filter(([, amount]) => amount > 0n));
}

/** The same as it is stored: a wallet's only account, or rows. */
async function storedAmounts(store: Store): Promise<Map<string, bigint>> {
  const rows = await store.find(holderAccounts, {});
  const known = new Map(rows.map(({ account, amount }) => [account, amount]));
  for (const { account, balance } of await store.find(holders, {}))
    if (account !== null) known.set(account, balance);
  return known;
}

describe("holders", () => {
  it("hold the sum of their accounts, one or many, and are counted while they hold anything", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(change, { maxLength: 30 }), { maxLength: 6 }), async (batches) => {
        const store = await openTestStore();
        const { counts, held } = await applyAll(store, batches);
        const amounts = lastAmounts(batches);
        const sums = new Map<string, bigint>();
        for (const [account, amount] of amounts) {
          const holder = account.slice(0, account.lastIndexOf(" "));
          sums.set(holder, (sums.get(holder) ?? 0n) + amount);
        }
        const stored = await store.find(holders, {});
        expect(
          new Map(
            stored.map(({ token, owner, balance }) => [`${token === 1 ? "A" : "B"} ${owner}`, balance]),
          ),
        ).to.deep.equal(sums);
        for (const mint of ["A", "B"]) {
          const own = stored.filter((row) => row.token === NUMBERS[mint]);
          expect(counts[mint]).to.equal(own.length);
          expect(held[mint]).to.equal(own.reduce((sum, { balance }) => sum + balance, 0n));
        }
        expect(await storedAmounts(store)).to.deep.equal(amounts);
        await store.close();
      }),
      { numRuns: 40 },
    );
  });

  it("have their accounts written one by one once they are several", async () => {
    const store = await openTestStore();
    const book = new HolderState(store, () => 1);
    const block = (account: number, amount: bigint) => blockOf([{ mint: "A", owner: "x", account, amount }]);
    for (let i = 0; i < 9; i++) {
      await book.load([block(i, 1n)]);
      book.add(block(i, 1n));
      const { holderAccounts: changed } = book.take();
      expect(changed.length).to.equal([0, 2][i] ?? 1);
    }
    await book.load([block(3, 5n)]);
    book.add(block(3, 5n));
    const taken = book.take();
    expect(taken.holderAccounts.map(({ row }) => row?.amount)).to.deep.equal([5n]);
    expect(taken.holders.map(({ row }) => [row?.balance, row?.account])).to.deep.equal([[13n, null]]);
    await store.close();
  });
});
