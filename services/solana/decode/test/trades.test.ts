/** Hand-made transactions: how trades and liquidity are recognised, attributed and counted. */
import { expect } from "chai";
import { describe, it } from "mocha";
import { decodeMade } from "./decode-made.ts";
import { u64, u128 } from "./encode.ts";
import { addressOf, type BuildOptions, HandMade } from "./hand-made.ts";

const PROGRAM = {
  ammV4: "675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8",
  cpmm: "CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C",
  clmm: "CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK",
  whirlpool: "whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc",
  dammV1: "Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB",
  dynamicVault: "24Uqj9JCLxUeoC3hGfh5W3s9FM9uCHDS2SG3LYwBpyTi",
  dbc: "dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN",
  pumpswap: "pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA",
} as const;

/** Accounts of an instruction, of which only those with a label matter. */
function accounts(count: number, labels: Readonly<Record<number, string>>): string[] {
  return Array.from({ length: count }, (_, at) => labels[at] ?? `account ${at}`);
}

function data(discriminator: string, ...rest: readonly number[][]): number[] {
  return [...Buffer.from(discriminator, "hex"), ...rest.flat()];
}

function holding(...labels: readonly string[]): HandMade {
  const made = new HandMade();
  for (const label of labels) made.holds(label, { mint: `mint ${label.at(-1)}` });
  return made;
}

const CPMM_SWAP = {
  accounts: accounts(13, { 0: "trader", 3: "pool", 6: "vault A", 7: "vault B" }),
  data: data("8fbe5adac41e33de", u64(5), u64(1)),
};

function swapOnce(made: HandMade, amount = 10n): void {
  made.call(PROGRAM.cpmm, CPMM_SWAP, () => {
    made.transfer("user A", "vault A", amount).transfer("vault B", "user B", amount + 1n);
  });
}

function cpmm(options?: BuildOptions) {
  const made = holding("user A", "vault A", "vault B", "user B");
  swapOnce(made);
  return decodeMade(made.build(options));
}

describe("hand-made transactions: trades", () => {
  it("one that failed gives no rows", () => {
    expect(cpmm().trades).to.have.length(1);
    expect(cpmm({ err: { InstructionError: [0, { Custom: 6005 }] } }).decoded.events).to.deep.equal([]);
  });

  it("accounts from lookup tables are the same accounts", () => {
    for (let staticKeys = 1; staticKeys < 12; staticKeys++) {
      expect(cpmm({ staticKeys }).decoded).to.deep.equal(cpmm().decoded);
    }
  });

  it("the same pool twice is two rows", () => {
    const made = holding("user A", "vault A", "vault B", "user B");
    swapOnce(made, 10n);
    made.call("router", { accounts: [], data: [9] }, () => swapOnce(made, 20n));
    const { trades } = decodeMade(made.build());
    const rows = trades.map(({ instructionIndex, amountIn, amountOut }) => [
      instructionIndex,
      amountIn,
      amountOut,
    ]);
    expect(rows).to.deep.equal([
      [0, 10n, 11n],
      [4, 20n, 21n],
    ]);
    expect(new Set(trades.map(({ pool }) => pool))).to.deep.equal(new Set([addressOf("pool")]));
  });

  it("the trader is the instruction's trader if that signed, else the fee payer", () => {
    const made = new HandMade(["payer", "trader"])
      .holds("vault A", { mint: "A" })
      .holds("user A", { mint: "A" });
    made.holds("vault B", { mint: "B" }).holds("user B", { mint: "B" });
    swapOnce(made);
    expect(decodeMade(made.build()).trades[0]?.account).to.equal(addressOf("trader"));
    expect(cpmm().trades[0]?.account).to.equal(addressOf("payer"));
  });

  it("an unknown instruction of an exchange, and an exchange's instruction at another program, give no rows", () => {
    const made = holding("user A", "vault A", "vault B", "user B");
    made.call(PROGRAM.cpmm, { ...CPMM_SWAP, data: data("8fbe5adac41e33df") }, () =>
      made.transfer("user A", "vault A", 1n),
    );
    made.call("fork", CPMM_SWAP, () => made.transfer("user A", "vault A", 1n));
    const { decoded } = decodeMade(made.build());
    expect(decoded.events).to.deep.equal([]);
    expect(decoded.disagreements).to.deep.equal([]);
  });

  it("a swap with too few accounts, or that moves nothing, is reported", () => {
    const made = holding("vault A", "vault B");
    made.call(PROGRAM.cpmm, { accounts: accounts(7, {}), data: CPMM_SWAP.data });
    made.call(PROGRAM.cpmm, CPMM_SWAP);
    expect(decodeMade(made.build()).disagreements).to.deep.equal([
      "swap_base_input came with 7 accounts, 8 are needed",
      "swap_base_input moved no tokens through the pool",
    ]);
  });

  it("without token balances, checked transfers name the tokens; without those the vault is reported", () => {
    const transaction = (isChecked: boolean) => {
      const made = holding("user A", "vault A", "vault B", "user B");
      made.call(PROGRAM.cpmm, CPMM_SWAP, () => {
        if (isChecked) made.transferChecked("user A", "vault A", { amount: 3n });
        else made.transfer("user A", "vault A", 3n);
        made.transferChecked("vault B", "user B", { amount: 4n });
      });
      const built = made.build();
      if (built.meta === null) throw new Error("no meta");
      return { ...built, meta: { ...built.meta, preTokenBalances: null, postTokenBalances: null } };
    };
    const { trades } = decodeMade(transaction(true));
    expect(trades[0]).to.deep.include({ amountIn: 3n, amountOut: 4n, decimalsIn: 6, reserveIn: null });
    expect(trades[0]?.tokenIn).to.equal(addressOf("mint A"));
    expect(decodeMade(transaction(false)).disagreements).to.deep.equal([
      `the token of vault ${addressOf("vault A")} is unknown`,
    ]);
  });

  it("Raydium AMM v4: what the order book pays to the pool is no part of the trade", () => {
    const forms = [
      { count: 17, vaults: [4, 5], books: [11, 12] },
      { count: 18, vaults: [5, 6], books: [12, 13] },
    ] as const;
    for (const { count, vaults, books } of forms) {
      const made = holding("user A", "vault A", "vault B", "user B", "book A", "book B");
      const labels = { 1: "pool", [vaults[0]]: "vault A", [vaults[1]]: "vault B" };
      const all = accounts(count, { ...labels, [books[0]]: "book A", [books[1]]: "book B" });
      made.call(PROGRAM.ammV4, { accounts: all, data: [9, ...u64(50), ...u64(0)] }, () => {
        made.call("order book", { accounts: [], data: [5] }, () => {
          made.transfer("book A", "vault A", 1_000n).transfer("book B", "vault B", 2_000n);
        });
        made.transfer("user A", "vault A", 50n).transfer("vault B", "user B", 70n);
      });
      const { trades, disagreements } = decodeMade(made.build());
      expect(disagreements).to.deep.equal([]);
      expect(trades[0]).to.deep.include({ amountIn: 50n, amountOut: 70n, tokenIn: addressOf("mint A") });
    }
  });

  it("Raydium AMM v4: withdrawals with and without the withdraw queue name the user", () => {
    for (const [count, user] of [
      [20, 16],
      [21, 16],
      [22, 18],
      [23, 18],
    ] as const) {
      const made = new HandMade(["payer", "provider"])
        .holds("vault A", { mint: "A" })
        .holds("user A", { mint: "A" });
      made.holds("vault B", { mint: "B" });
      const all = accounts(count, { 1: "pool", 6: "vault A", 7: "vault B", [user]: "provider" });
      made.call(PROGRAM.ammV4, { accounts: all, data: [4, ...u64(50)] }, () =>
        made.transfer("vault A", "user A", 9n),
      );
      const { liquidity } = decodeMade(made.build());
      expect(liquidity[0]).to.deep.include({ amountA: 9n, amountB: 0n, account: addressOf("provider") });
    }
  });

  it("Whirlpool's two hops are two legs, whether the first pays the user or the second pool", () => {
    const twoHop = { 2: "pool 1", 3: "pool 2", 5: "one A", 7: "one B", 9: "two B", 11: "two C" };
    const twoHopV2 = { 0: "pool 1", 1: "pool 2", 9: "one A", 10: "one B", 11: "two B", 12: "two C" };
    const forms = [
      { discriminator: "c360ed6c44a2dbe6", all: accounts(20, twoHop), isDirect: false },
      { discriminator: "ba8fd11dfe02c275", all: accounts(24, twoHopV2), isDirect: true },
    ];
    for (const { discriminator, all, isDirect } of forms) {
      const made = holding("user A", "one A", "one B", "user B", "two B", "two C", "user C");
      made.call(PROGRAM.whirlpool, { accounts: all, data: data(discriminator) }, () => {
        made.transfer("user A", "one A", 100n);
        if (isDirect) made.transfer("one B", "two B", 200n);
        else made.transfer("one B", "user B", 200n).transfer("user B", "two B", 200n);
        made.transfer("two C", "user C", 300n);
      });
      const { trades, disagreements } = decodeMade(made.build());
      expect(disagreements).to.deep.equal([]);
      const [first, second] = trades;
      expect(first).to.deep.include({ leg: 0, pool: addressOf("pool 1"), amountIn: 100n, amountOut: 200n });
      expect(second).to.deep.include({ leg: 1, pool: addressOf("pool 2"), amountIn: 200n, amountOut: 300n });
      expect(second?.tokenIn).to.equal(addressOf("mint B"));
    }
  });

  it("Raydium CLMM's router: pools from the trailing accounts, tick arrays between them", () => {
    const hop = (
      pool: string,
      [out, vaultIn, vaultOut]: readonly [string, string, string],
      ticks: number,
    ) => [
      ...["config", pool, out, vaultIn, vaultOut, "mint", "observations"],
      ...Array.from({ length: ticks }, (_, at) => `tick ${at}`),
    ];
    for (const between of [0, 1, 2, 7, 9]) {
      const made = holding("user A", "one A", "one B", "user B", "two B", "two C", "user C");
      const all = [
        ...accounts(6, { 1: "user A" }),
        ...hop("pool 1", ["user B", "one A", "one B"], between),
        ...hop("pool 2", ["user C", "two B", "two C"], between),
      ];
      made.call(PROGRAM.clmm, { accounts: all, data: data("457d73daf5baf2c4", u64(1), u64(1)) }, () => {
        made.transfer("user A", "one A", 100n).transfer("one B", "user B", 200n);
        made.transfer("user B", "two B", 200n).transfer("two C", "user C", 300n);
      });
      const { trades, disagreements } = decodeMade(made.build());
      expect(disagreements).to.deep.equal([]);
      expect(
        trades.map(({ pool, leg, amountIn, amountOut }) => [pool, leg, amountIn, amountOut]),
      ).to.deep.equal([
        [addressOf("pool 1"), 0, 100n, 200n],
        [addressOf("pool 2"), 1, 200n, 300n],
      ]);
    }
  });

  it("PumpSwap's multi-hop: a leg for each group of accounts, paid from vault to vault; a hop in lamports is reported", () => {
    const hop = (pool: string, [base, quote]: readonly [string, string]) => [
      "mint",
      "mint",
      pool,
      base,
      quote,
    ];
    const made = holding("user A", "one B", "one A", "two C", "two B", "user C", "three A");
    const all = [
      ...accounts(16, { 0: "payer" }),
      ...hop("curve", ["three A", "no account of tokens"]),
      ...hop("pool 1", ["one B", "one A"]),
      ...hop("pool 2", ["two C", "two B"]),
    ];
    made.call(PROGRAM.pumpswap, { accounts: all, data: data("2b644913e9f66f94", u64(1), u64(1)) }, () => {
      made
        .transfer("three A", "one A", 100n)
        .transfer("one B", "two B", 200n)
        .transfer("two C", "user C", 300n);
    });
    const { trades, disagreements } = decodeMade(made.build());
    expect(
      trades.map(({ pool, leg, amountIn, amountOut }) => [pool, leg, amountIn, amountOut]),
    ).to.deep.equal([
      [addressOf("pool 1"), 1, 100n, 200n],
      [addressOf("pool 2"), 2, 200n, 300n],
    ]);
    expect(disagreements).to.deep.equal([
      `the token of vault ${addressOf("no account of tokens")} is unknown`,
    ]);
  });

  it("PumpSwap's second versions: what the pool received, fees it keeps included", () => {
    for (const discriminator of ["b817ee6167c5d33d", "5df6823ce7e940b2", "c2ab1c46684d5b2f"]) {
      const made = holding("user A", "quote A", "base B", "user B", "buyback A");
      const all = accounts(17, { 0: "pool", 1: "payer", 7: "base B", 8: "quote A" });
      made.call(PROGRAM.pumpswap, { accounts: all, data: data(discriminator, u64(1), u64(1)) }, () => {
        made
          .transfer("user A", "quote A", 1_020n)
          .transfer("user A", "buyback A", 5n)
          .transfer("base B", "user B", 7n);
      });
      const { trades, disagreements } = decodeMade(made.build());
      expect(disagreements).to.deep.equal([]);
      expect(trades[0]).to.deep.include({ pool: addressOf("pool"), amountIn: 1_020n, amountOut: 7n });
    }
  });

  it("Raydium CLMM's router without a known pool is reported", () => {
    const made = holding("user A");
    made.call(PROGRAM.clmm, { accounts: accounts(6, {}), data: data("457d73daf5baf2c4", u64(1), u64(1)) });
    expect(decodeMade(made.build()).disagreements).to.deep.equal([
      "swap_router_base_in: no pool of its route matches its transfers",
    ]);
  });

  it("Meteora DAMM v1: transfers of the vault program beneath count, two swaps share a vault", () => {
    const made = holding("user A", "vault A", "vault B", "user B");
    const swap = (pool: string, amount: bigint) =>
      made.call(
        PROGRAM.dammV1,
        { accounts: accounts(15, { 0: pool, 5: "vault A", 6: "vault B" }), data: data("f8c69e91e17587c8") },
        () => {
          made.transfer("user A", "protocol A", 2n);
          made.call(PROGRAM.dynamicVault, { accounts: [], data: [1] }, () =>
            made.transfer("user A", "vault A", amount),
          );
          made.call(PROGRAM.dynamicVault, { accounts: [], data: [2] }, () =>
            made.transfer("vault B", "user B", amount + 5n),
          );
        },
      );
    made.holds("protocol A", { mint: "mint A" });
    swap("pool 1", 10n);
    swap("pool 2", 30n);
    const { trades } = decodeMade(made.build());
    expect(trades.map(({ pool, amountIn, amountOut }) => [pool, amountIn, amountOut])).to.deep.equal([
      [addressOf("pool 1"), 10n, 15n],
      [addressOf("pool 2"), 30n, 35n],
    ]);
  });

  it("a referrer's share out of the vault that tokens came into changes neither direction nor amount in", () => {
    const made = holding("user A", "base B", "quote A", "user B", "referrer A");
    const all = accounts(15, { 2: "pool", 5: "base B", 6: "quote A" });
    made.call(PROGRAM.dbc, { accounts: all, data: data("414b3f4ceb5b5b88") }, () => {
      made.transfer("user A", "quote A", 1_000n).transfer("base B", "user B", 9n);
      made.transfer("quote A", "referrer A", 3n);
    });
    const { trades } = decodeMade(made.build());
    expect(trades[0]).to.deep.include({ tokenIn: addressOf("mint A"), amountIn: 1_000n, amountOut: 9n });
  });

  it("Raydium CLMM: taking out no liquidity collects fees, and is no removal", () => {
    for (const liquidity of [0n, 1n, 1n << 64n]) {
      const made = holding("user A", "vault A", "vault B", "user B");
      const all = accounts(12, { 3: "pool", 5: "vault A", 6: "vault B" });
      const amounts = [u128(liquidity), u64(0), u64(0)];
      made.call(PROGRAM.clmm, { accounts: all, data: data("a026d06f685b2c01", ...amounts) }, () =>
        made.transfer("vault A", "user A", 4n),
      );
      expect(decodeMade(made.build()).liquidity, String(liquidity)).to.have.length(liquidity === 0n ? 0 : 1);
    }
  });

  it("a position opened without liquidity gives no row and no report", () => {
    const made = holding("vault A", "vault B");
    const all = accounts(19, { 5: "pool", 12: "vault A", 13: "vault B" });
    made.call(PROGRAM.clmm, { accounts: all, data: data("87802f4d0f98f031") });
    const { decoded } = decodeMade(made.build());
    expect(decoded.events).to.deep.equal([]);
    expect(decoded.disagreements).to.deep.equal([]);
  });
});
