/** Hand-made transactions: transfer fees, mints and burns, batches, balances. */
import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { TransactionMeta } from "../../chain/port.ts";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../transaction/balances.ts";
import { decodeMade } from "./decode-made.ts";
import { u8, u64 } from "./encode.ts";
import { addressOf, HandMade } from "./hand-made.ts";

const CPMM = "CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C";
const SWAP = [...Buffer.from("8fbe5adac41e33de", "hex"), ...new Uint8Array(16)];
const ACCOUNTS = ["t", "a", "c", "pool", "x", "y", "vault A", "vault B", "p", "q", "r", "s", "o"];

function start(): HandMade {
  return new HandMade()
    .holds("vault A", { mint: "A", isToken2022: true })
    .holds("user A", { mint: "A", isToken2022: true })
    .holds("vault B", { mint: "B" })
    .holds("user B", { mint: "B" });
}

/** Token-2022: a rate in basis points, rounded up, at most so much. */
function feeOf(amount: bigint, { bps, max }: { bps: bigint; max: bigint }): bigint {
  const fee = (amount * bps + 9_999n) / 10_000n;
  return fee < max ? fee : max;
}

function swap(made: HandMade, transfer: () => void): void {
  made.call(CPMM, { accounts: ACCOUNTS, data: SWAP }, () => {
    transfer();
    made.transfer("vault B", "user B", 7n);
  });
}

describe("hand-made transactions: transfer fees of Token-2022", () => {
  it("what the pool received is less the fee, whether the transfer names it or not", () => {
    for (const isTold of [true, false]) {
      const made = start();
      swap(made, () =>
        made.transferChecked("user A", "vault A", { amount: 358_800n, withheld: 14_352n, isTold }),
      );
      const { trades, disagreements } = decodeMade(made.build());
      expect(trades[0]).to.deep.include({ amountIn: 344_448n, reserveIn: 10n ** 15n + 344_448n });
      expect(disagreements).to.deep.equal([]);
    }
  });

  it("what left the pool includes the fee", () => {
    const made = start();
    made.call(CPMM, { accounts: ACCOUNTS, data: SWAP }, () => {
      made.transfer("user B", "vault B", 7n);
      made.transferChecked("vault A", "user A", { amount: 1_000n, withheld: 10n });
    });
    expect(decodeMade(made.build()).trades[0]).to.deep.include({ amountIn: 7n, amountOut: 1_000n });
  });

  it("fees of several transfers into one vault are found at any rate", () => {
    // Of a raw unit or two a fee takes all or half: what is left is no trade, or any rate's.
    const amounts = fc.array(fc.bigInt({ min: 100n, max: 10n ** 12n }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(amounts, fc.bigInt({ min: 0n, max: 9_000n }), (sent, bps) => {
        const made = start();
        const fees = sent.map((amount) => feeOf(amount, { bps, max: 10n ** 18n }));
        sent.forEach((amount, at) => {
          swap(made, () =>
            made.transferChecked("user A", "vault A", { amount, withheld: fees[at] as bigint }),
          );
        });
        const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);
        const ins = decodeMade(made.build()).trades.map(({ amountIn }) => amountIn);
        expect(sum(ins)).to.equal(sum(sent) - sum(fees));
        // Rates so alike that they withhold the same sum differ by the rounding of single fees.
        ins.forEach((amount, at) => {
          const error = amount - ((sent[at] as bigint) - (fees[at] as bigint));
          expect(Number(error)).to.be.within(
            -(sent.length + Number(sent[at]) / 5_000),
            sent.length + Number(sent[at]) / 5_000,
          );
        });
      }),
    );
  });

  it("fees at their maximum are spread by amount", () => {
    const made = start();
    for (const amount of [30_000n, 10_000n]) {
      swap(made, () => made.transferChecked("user A", "vault A", { amount, withheld: 20n }));
    }
    const ins = decodeMade(made.build()).trades.map(({ amountIn }) => amountIn);
    expect(ins).to.deep.equal([29_970n, 9_990n]);
  });

  it("other movements of the vault are no fees", () => {
    const made = start().holds("other A", { mint: "A", isToken2022: true });
    made.transferChecked("vault A", "other A", { amount: 500n });
    swap(made, () => made.transferChecked("user A", "vault A", { amount: 100n, withheld: 1n }));
    made.transfer("other A", "vault A", 50n);
    expect(decodeMade(made.build()).trades[0]?.amountIn).to.equal(99n);
  });
});

describe("hand-made transactions: mints and burns", () => {
  const forms = [
    { name: "MintTo", data: [...u8(7), ...u64(5)], accounts: ["M", "holder", "boss"], kind: "mint" },
    { name: "Burn", data: [...u8(8), ...u64(5)], accounts: ["holder", "M", "boss"], kind: "burn" },
    {
      name: "MintToChecked",
      data: [...u8(14), ...u64(5), ...u8(6)],
      accounts: ["M", "holder", "boss"],
      kind: "mint",
    },
    {
      name: "BurnChecked",
      data: [...u8(15), ...u64(5), ...u8(6)],
      accounts: ["holder", "M", "boss"],
      kind: "burn",
    },
  ] as const;

  for (const { name, data, accounts, kind } of forms) {
    it(`${name} of both token programs, at any depth`, () => {
      for (const program of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]) {
        const made = new HandMade().holds("holder", { mint: "M" });
        made.call(program, { accounts: [...accounts, "signer"], data });
        made.call("a", { accounts: [], data: [] }, () =>
          made.call("b", { accounts: [], data: [] }, () => made.call(program, { accounts, data })),
        );
        const row = {
          kind,
          leg: 0,
          mint: addressOf("M"),
          amount: 5n,
          decimals: 6,
          authority: addressOf("boss"),
        };
        expect(decodeMade(made.build()).supply).to.deep.equal([
          { ...row, instructionIndex: 0, accountCount: 4 },
          { ...row, instructionIndex: 3, accountCount: 3 },
        ]);
      }
    });
  }

  it("decimals come from the instruction that made the mint, where no balance has them; without either it is reported", () => {
    const made = new HandMade();
    made.call(TOKEN_PROGRAM, { accounts: ["M"], data: [...u8(20), ...u8(3)] });
    made.call(TOKEN_PROGRAM, { accounts: ["M", "gone", "boss"], data: [...u8(7), ...u64(5)] });
    made.call(TOKEN_PROGRAM, { accounts: ["gone", "N", "boss"], data: [...u8(8), ...u64(5)] });
    const { decoded, supply } = decodeMade(made.build());
    expect(supply.map(({ mint, decimals }) => [mint, decimals])).to.deep.equal([[addressOf("M"), 3]]);
    expect(decoded.disagreements).to.deep.equal([
      { instructionIndex: 2, program: "token", reason: `decimals of mint ${addressOf("N")} are unknown` },
    ]);
  });

  it("a batch is read as the instructions in it", () => {
    const made = start().holds("holder", { mint: "M" });
    const sub = (count: number, data: readonly number[]) => [...u8(count), ...u8(data.length), ...data];
    made.call(CPMM, { accounts: ACCOUNTS, data: SWAP }, () => {
      const data = [
        ...u8(255),
        ...sub(3, [...u8(3), ...u64(30)]),
        ...sub(3, [...u8(3), ...u64(40)]),
        ...sub(3, [...u8(7), ...u64(50)]),
        ...sub(3, [...u8(8), ...u64(60)]),
      ];
      const accounts = [
        "user A",
        "vault A",
        "o",
        "vault B",
        "user B",
        "o",
        "M",
        "holder",
        "o",
        "holder",
        "M",
        "o",
      ];
      made.move("user A", "vault A", 30n).move("vault B", "user B", 40n);
      made.call(TOKEN_PROGRAM, { accounts, data });
    });
    const { trades, supply, disagreements } = decodeMade(made.build());
    expect(trades[0]).to.deep.include({ amountIn: 30n, amountOut: 40n });
    expect(
      supply.map(({ kind, leg, amount, accountCount }) => [kind, leg, amount, accountCount]),
    ).to.deep.equal([
      ["mint", 0, 50n, 3],
      ["burn", 1, 60n, 3],
    ]);
    expect(disagreements).to.deep.equal([]);
  });
});

describe("hand-made transactions: balances", () => {
  const balance = (mint: string, amount: string, owner?: string) => ({
    accountIndex: 0,
    mint,
    ...(owner === undefined ? {} : { owner }),
    programId: TOKEN_2022_PROGRAM,
    uiTokenAmount: { amount, decimals: 2 },
  });
  type TokenBalance = ReturnType<typeof balance>;

  function changes(pre: readonly TokenBalance[] | null, post: readonly TokenBalance[] | null) {
    const built = new HandMade(["account"]).build();
    const meta = { ...(built.meta as TransactionMeta), preTokenBalances: pre, postTokenBalances: post };
    return decodeMade({ ...built, meta }).decoded.balances;
  }

  const row = { tokenAccount: addressOf("account"), decimals: 2, isToken2022: true };

  it("contain what has changed", () => {
    expect(changes([balance("M", "5", "w")], [balance("M", "7", "w")])).to.deep.equal([
      { ...row, mint: "M", owner: "w", before: 5n, after: 7n },
    ]);
    expect(changes([balance("M", "5", "w")], [balance("M", "5", "w")])).to.deep.equal([]);
    expect(changes(null, null)).to.deep.equal([]);
  });

  it("contain accounts opened and closed, but not empty ones", () => {
    expect(changes([], [balance("M", "18446744073709551615")])).to.deep.equal([
      { ...row, mint: "M", owner: null, before: 0n, after: 2n ** 64n - 1n },
    ]);
    expect(changes([balance("M", "5", "w")], [])).to.deep.equal([
      { ...row, mint: "M", owner: "w", before: 5n, after: 0n },
    ]);
    expect(changes([], [balance("M", "0")])).to.deep.equal([]);
    expect(changes([balance("M", "0")], [])).to.deep.equal([]);
  });

  it("contain an account handed to another wallet, and an account opened again for another mint", () => {
    expect(changes([balance("M", "5", "v")], [balance("M", "5", "w")])).to.deep.equal([
      { ...row, mint: "M", owner: "v", before: 5n, after: 0n },
      { ...row, mint: "M", owner: "w", before: 0n, after: 5n },
    ]);
    expect(changes([balance("M", "5", "w")], [balance("N", "6", "w")])).to.deep.equal([
      { ...row, mint: "M", owner: "w", before: 5n, after: 0n },
      { ...row, mint: "N", owner: "w", before: 0n, after: 6n },
    ]);
  });
});
