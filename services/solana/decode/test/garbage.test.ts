/** What no node should send gives no rows, is counted, and stops nothing. */
import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { SolanaTransaction } from "../../chain/port.ts";
import { decodeBlock, decodeTransaction } from "../decode.ts";
import { BrokenTransactionError } from "../errors.ts";
import { addressOf, HandMade } from "./hand-made.ts";
import { hasRecorded, needRecorded, readRecordedTransactions } from "./recorded.ts";

const CPMM = "CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C";
const SWAP = [...Buffer.from("8fbe5adac41e33de", "hex"), ...new Uint8Array(16)];
const ACCOUNTS = ["payer", "a", "c", "pool", "x", "y", "vault A", "vault B"];

function good(): SolanaTransaction {
  const made = new HandMade().holds("vault A", { mint: "A" }).holds("vault B", { mint: "B" });
  made.holds("user A", { mint: "A" }).holds("user B", { mint: "B" });
  return made
    .call(CPMM, { accounts: ACCOUNTS, data: SWAP }, () => {
      made.transfer("user A", "vault A", 1n).transfer("vault B", "user B", 2n);
    })
    .build();
}

function block(transactions: readonly unknown[]) {
  const head = { slot: 1, blockhash: "b", previousBlockhash: "a", parentSlot: 0, blockTime: null };
  return { ...head, transactions: transactions as SolanaTransaction[] };
}

/** A copy with one value changed. */
function spoil(path: readonly (string | number)[], value: unknown): SolanaTransaction {
  const copy = structuredClone(good());
  let at = copy as unknown as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) at = at[step] as Record<string | number, unknown>;
  at[path.at(-1) as string] = value;
  return copy;
}

const INNER = ["meta", "innerInstructions", 0, "instructions", 0] as const;
const TOP = ["transaction", "message", "instructions", 0] as const;

describe("garbage", () => {
  const cases: readonly (readonly [what: string, transaction: SolanaTransaction, reason: RegExp])[] = [
    ["no meta", spoil(["meta"], null), /without its meta/],
    ["a program beyond the keys", spoil([...TOP, "programIdIndex"], 99), /program 99 of \d+ accounts/],
    ["a negative index", spoil([...INNER, "accounts", 1], -1), /Instruction 1 names account -1/],
    ["a fraction for an index", spoil([...TOP, "programIdIndex"], 0.5), /program 0.5/],
    ["an account beyond the keys", spoil([...TOP, "accounts", 3], 77), /Instruction 0 names account 77/],
    ["data that is not base58", spoil([...TOP, "data"], "0OIl"), /Instruction 0: its data is not base58/],
    [
      "a token instruction that is not base58",
      spoil([...INNER, "data"], "!"),
      /Instruction 1: its data is not/,
    ],
    [
      "a token instruction cut short",
      spoil([...INNER, "data"], "4"),
      /1 bytes are too few for token instruction 3/,
    ],
    ["a transfer without accounts", spoil([...INNER, "accounts"], []), /without its account 0, of 0/],
    ["a balance of no account", spoil(["meta", "preTokenBalances", 0, "accountIndex"], 50), /account 50 of/],
    [
      "an amount that is not a number",
      spoil(["meta", "postTokenBalances", 0, "uiTokenAmount", "amount"], "many"),
      /many/,
    ],
    ["no keys", spoil(["transaction", "message", "accountKeys"], undefined), /./],
  ];

  for (const [what, transaction, reason] of cases) {
    it(`${what}: no rows, counted, and the others are read`, () => {
      const { transactions, broken } = decodeBlock(block([good(), transaction, good()]));
      expect(transactions).to.have.length(2);
      expect(broken).to.have.length(1);
      expect(broken[0]?.reason).to.match(reason);
      expect(broken[0]?.signature).to.equal("signature of payer");
      expect(() => decodeTransaction(transaction)).to.throw(Error);
    });
  }

  it("throws BrokenTransactionError", () => {
    expect(() => decodeTransaction(spoil(["meta"], null))).to.throw(BrokenTransactionError);
  });

  it("counts a value that is no transaction without a signature", () => {
    const { transactions, broken } = decodeBlock(block([null, 5, "text", {}, { meta: {} }, undefined]));
    expect(transactions).to.deep.equal([]);
    expect(broken.map(({ signature }) => signature)).to.deep.equal(new Array(6).fill(null));
  });

  it("decodes or reports every changed form of every recorded transaction", function () {
    needRecorded(this);
    const recorded = hasRecorded() ? readRecordedTransactions().map(({ transaction }) => transaction) : [];
    const texts = recorded.filter((one) => typeof one === "object").map((one) => JSON.stringify(one));
    const odd = fc.oneof(
      fc.integer({ min: -3, max: 300 }),
      fc.string(),
      fc.constantFrom(null, undefined, [], {}, "9", "1111", 2 ** 40, addressOf("x")),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.array(fc.tuple(fc.nat(), odd), { minLength: 1, maxLength: 3 }),
        (text, changes) => {
          let spoilt: unknown = JSON.parse(text);
          for (const [nth, value] of changes) spoilt = replaceNth(spoilt, nth, value);
          const { transactions, broken } = decodeBlock(block([spoilt, good()]));
          expect(transactions.length + broken.length).to.be.within(1, 2);
          expect(transactions.at(-1)?.events).to.have.length(1);
        },
      ),
      { numRuns: 400 },
    );
  });
});

/** Replaces one of the leaves, counted round and round. */
function replaceNth(source: unknown, nth: number, value: unknown): unknown {
  const holders: [Record<string, unknown>, string][] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    for (const [key, child] of Object.entries(node)) {
      holders.push([node as Record<string, unknown>, key]);
      walk(child);
    }
  };
  walk(source);
  const chosen = holders[nth % holders.length];
  if (chosen !== undefined) chosen[0][chosen[1]] = value;
  return source;
}
