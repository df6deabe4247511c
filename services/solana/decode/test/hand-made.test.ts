/** Each instruction of facts at least once, by hand: positions out of facts, not out of our layouts. */
import { expect } from "chai";
import { describe, it } from "mocha";
import { fromHex } from "../bytes.ts";
import type { LiquidityChange, Trade } from "../model.ts";
import { decodeMade } from "./decode-made.ts";
import {
  type FactsProgram,
  type FactsRow,
  hasFacts,
  needFacts,
  readFacts,
  vaultsOf,
  WITHOUT_ROWS,
} from "./facts.ts";
import { addressOf, HandMade } from "./hand-made.ts";

const DEX: Readonly<Record<string, Trade["dex"]>> = { raydium: "raydium", orca: "orca", meteora: "meteora" };

/** Rows whose sides are not two vaults in fixed places; they have tests of their own. */
const ELSEWHERE = /swap_router_base_in|^pump-fun|two_hop/;

describe("hand-made transactions: every instruction", () => {
  const facts = hasFacts() ? readFacts() : {};

  it("facts are beside the repository", function () {
    needFacts(this);
  });

  for (const [name, program] of Object.entries(facts)) {
    for (const row of program.rows) {
      const full = `${name} ${row.instruction}`;
      if (WITHOUT_ROWS[full] !== undefined) {
        it(`${full}: no row (${WITHOUT_ROWS[full]})`, () => expectNothing(program, row));
      } else if (ELSEWHERE.test(full)) {
      } else if (row.category === "swap") {
        it(`${full}: a trade either way`, () => expectTrades(name, program, row));
      } else {
        it(`${full}: ${row.category === "create" ? "add" : row.category}`, () =>
          expectLiquidity(name, program, row));
      }
    }
  }
});

/** Labels of a row's accounts; the trader is the payer, whatever the instruction calls it. */
function accountsOf(row: FactsRow): string[] {
  const vaults = vaultsOf(row);
  return row.accounts.map((name, index) => {
    const vault = vaults.indexOf(index);
    if (vault !== -1) return `vault ${vault}`;
    return index === row.pool_account_index ? "pool" : `${name} ${index}`;
  });
}

function dataOf(row: FactsRow): Uint8Array {
  return Uint8Array.from([...fromHex(row.discriminator_hex), ...new Uint8Array(40).fill(7)]);
}

function start(): HandMade {
  return new HandMade()
    .holds("vault 0", { mint: "mint 0", decimals: 6 })
    .holds("vault 1", { mint: "mint 1", decimals: 9 })
    .holds("user 0", { mint: "mint 0", decimals: 6 })
    .holds("user 1", { mint: "mint 1", decimals: 9 })
    .holds("elsewhere", { mint: "mint 0", decimals: 6 });
}

function place(name: string): Pick<Trade, "dex" | "program" | "pool" | "account" | "instructionIndex"> {
  return {
    dex: DEX[name.split("-")[0] as string] ?? "pumpfun",
    program: name,
    pool: addressOf("pool"),
    account: addressOf("payer"),
    instructionIndex: 0,
  };
}

function expectTrades(name: string, program: FactsProgram, row: FactsRow): void {
  for (const [into, out] of [
    [0, 1],
    [1, 0],
  ] as const) {
    const transaction = start().call(
      program.program_id,
      { accounts: accountsOf(row), data: dataOf(row) },
      (made) => {
        made.transfer(`user ${into}`, `vault ${into}`, 1_000n);
        made.transfer(`user 0`, "elsewhere", 55n);
        made.transfer(`vault ${out}`, `user ${out}`, 77n);
      },
    );
    const expected: Partial<Trade> = {
      kind: "trade",
      ...place(name),
      leg: 0,
      tokenIn: addressOf(`mint ${into}`),
      amountIn: 1_000n,
      decimalsIn: into === 0 ? 6 : 9,
      tokenOut: addressOf(`mint ${out}`),
      amountOut: 77n,
      decimalsOut: out === 0 ? 6 : 9,
      reserveIn: name === "meteora-damm-v1" ? null : 10n ** 15n + 1_000n,
      reserveOut: name === "meteora-damm-v1" ? null : 10n ** 15n - 77n,
    };
    const { decoded, disagreements } = decodeMade(transaction.build());
    expect(decoded.events).to.deep.equal([expected]);
    expect(disagreements).to.deep.equal([]);
  }
}

function expectLiquidity(name: string, program: FactsProgram, row: FactsRow): void {
  const hasBoth = vaultsOf(row).length === 2;
  const transaction = start().call(
    program.program_id,
    { accounts: accountsOf(row), data: dataOf(row) },
    (made) => {
      if (row.category.includes("remove")) made.transfer("vault 0", "user 0", 5n);
      if (row.category.includes("remove") && hasBoth) made.transfer("vault 1", "user 1", 6n);
      if (row.category !== "remove") made.transfer("user 0", "vault 0", 8n);
      if (row.category !== "remove" && hasBoth) made.transfer("user 1", "vault 1", 9n);
    },
  );
  const tokens = {
    tokenA: addressOf("mint 0"),
    decimalsA: 6,
    tokenB: hasBoth ? addressOf("mint 1") : "",
    decimalsB: hasBoth ? 9 : 0,
  };
  const expected: LiquidityChange[] = [];
  const at = place(name) as Pick<
    LiquidityChange,
    "dex" | "program" | "pool" | "account" | "instructionIndex"
  >;
  if (row.category.includes("remove")) {
    expected.push({ kind: "remove_liquidity", ...at, leg: 0, ...tokens, amountA: 5n, amountB: 6n });
  }
  if (row.category !== "remove") {
    const leg = expected.length;
    expected.push({ kind: "add_liquidity", ...at, leg, ...tokens, amountA: 8n, amountB: hasBoth ? 9n : 0n });
  }
  const { decoded, disagreements } = decodeMade(transaction.build());
  expect(decoded.events).to.deep.equal(expected);
  expect(disagreements).to.deep.equal([]);
}

function expectNothing(program: FactsProgram, row: FactsRow): void {
  const transaction = start().call(
    program.program_id,
    { accounts: accountsOf(row), data: dataOf(row) },
    (made) => {
      made.transfer("user 0", "vault 0", 8n);
      made.transfer("vault 1", "user 1", 9n);
    },
  );
  const { decoded } = decodeMade(transaction.build());
  expect(decoded.events).to.deep.equal([]);
  expect(decoded.disagreements).to.deep.equal([]);
}
