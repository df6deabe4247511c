import { createHash } from "node:crypto";
import { expect } from "chai";
import { describe, it } from "mocha";
import { fromHex } from "../bytes.ts";
import type { InstructionLayout, ProgramLayout } from "../layout.ts";
import { BEYOND_FACTS, hasFacts, needFacts, readFacts, vaultsOf, WITHOUT_ROWS } from "../test/facts.ts";
import { hasRecorded, needRecorded, readFixtures } from "../test/recorded.ts";
import { defineProgram } from "./define.ts";
import { programs } from "./index.ts";

const EFFECTS: Readonly<Record<string, InstructionLayout["effect"]>> = {
  swap: "trade",
  add: "add_liquidity",
  create: "add_liquidity",
  remove: "remove_liquidity",
  "add+remove": "rebalance",
};

describe("layouts of the exchanges' programs", () => {
  const facts = hasFacts() ? readFacts() : {};

  it("facts are beside the repository", function () {
    needFacts(this);
    expect(Object.keys(facts)).to.have.members(programs.map(({ layout }) => layout.name));
  });

  for (const { layout } of programs) {
    const program = facts[layout.name];
    if (program === undefined) continue;
    it(`${layout.name}: address, discriminators and positions are those of facts`, () => {
      expect(layout.address).to.equal(program.program_id);
      for (const row of program.rows) {
        const known = layout.instructions.find(({ name }) => name === row.instruction);
        if (known === undefined) {
          expect(WITHOUT_ROWS[`${layout.name} ${row.instruction}`], row.instruction).to.be.a("string");
          continue;
        }
        expect(known.discriminator, row.instruction).to.equal(row.discriminator_hex);
        expect(known.effect, row.instruction).to.equal(EFFECTS[row.category]);
        if (known.route !== undefined) continue;
        expect(known.pools.map(({ pool }) => pool)).to.deep.equal([row.pool_account_index].flat());
        expect(known.pools.flatMap(({ vaults }) => [...vaults])).to.deep.equal(vaultsOf(row));
        expect(row.accounts[known.user], row.instruction).to.match(
          /user|owner|payer|sender|creator|authority|wallet/,
        );
        for (const owned of known.orderBookVaults ?? [])
          expect(row.accounts[owned]).to.match(/^serum_.*vault_account$/);
      }
    });

    it(`${layout.name}: events' discriminators are those of facts`, () => {
      for (const { event, name } of layout.instructions) {
        if (event === undefined || layout.events === "ray_log") continue;
        if (BEYOND_FACTS[`${layout.name} ${name}`] !== undefined) continue;
        const row = program.events.find(({ name }) => name === event.name);
        expect(row?.discriminator_hex, event.name).to.equal(event.discriminator);
      }
    });
  }

  it("every instruction of facts is in a layout or has a reason not to be", function () {
    needFacts(this);
    const known = programs.flatMap(({ layout }) =>
      layout.instructions.map(({ name }) => `${layout.name} ${name}`),
    );
    const all = Object.entries(facts).flatMap(([name, { rows }]) =>
      rows.map(({ instruction }) => `${name} ${instruction}`),
    );
    expect(new Set([...known, ...Object.keys(WITHOUT_ROWS)])).to.deep.equal(
      new Set([...all, ...Object.keys(BEYOND_FACTS)]),
    );
  });

  it("discriminators beyond facts are the hash of their names, as Anchor makes them", () => {
    for (const { layout } of programs) {
      for (const { name, discriminator } of layout.instructions) {
        if (BEYOND_FACTS[`${layout.name} ${name}`] === undefined) continue;
        const hash = createHash("sha256").update(`global:${name}`).digest("hex");
        expect(discriminator, name).to.equal(hash.slice(0, 16));
      }
    }
  });

  it("two layouts with the same discriminator and account count are rejected", () => {
    const swap = {
      name: "a",
      discriminator: "0102030405060708",
      effect: "trade",
      pools: [],
      user: 0,
    } as const;
    const program: ProgramLayout = {
      name: "twice",
      dex: "orca",
      address: "",
      events: "cpi",
      instructions: [swap, { ...swap, name: "b" }],
    };
    expect(() => defineProgram(program)).to.throw(
      "twice: a and b have the same discriminator and account count.",
    );
    const { find } = defineProgram({
      ...program,
      instructions: [swap, { ...swap, name: "b", accountCount: 3 }],
    });
    expect(find(fromHex("0102030405060708ff"), 3)?.layout.name).to.equal("b");
    expect(find(fromHex("0102030405060708ff"), 4)?.layout.name).to.equal("a");
    expect(find(fromHex("0102030405060709ff"), 3)).to.equal(undefined);
    expect(find(fromHex("01020304050607"), 3)).to.equal(undefined);
  });
});

interface Fixture {
  readonly program_id: string;
  /** Hex. */
  readonly data: string;
  readonly accounts: readonly { readonly label?: string }[];
}

/** Real instructions whose accounts were labelled when they were recorded. */
describe("recorded instructions of Raydium CLMM, Orca and Meteora DLMM", () => {
  const fixtures = hasRecorded()
    ? readFixtures<Fixture>("carbon-instruction-fixtures", (name) => name.endsWith("_ix.json"))
    : [];

  it("are beside the repository", function () {
    needRecorded(this);
    expect(fixtures).to.have.length(98);
  });

  for (const { name, fixture } of fixtures) {
    const [folder = "", file = ""] = name.replace("_ix.json", "").split("-decoder__");
    const program = programs.find(({ layout }) => layout.name === folder);
    if (program === undefined) throw new Error(`${name} is of no known program.`);
    const isKnown = program.layout.instructions.some((layout) => layout.name === file);
    it(`${folder} ${file}${isKnown ? "" : " gives no row"}`, () => {
      expect(fixture.program_id).to.equal(program.layout.address);
      const found = program.find(fromHex(fixture.data), fixture.accounts.length);
      expect(found?.layout.name).to.equal(isKnown ? file : undefined);
      if (found === undefined) return;
      expect(fixture.accounts.length).to.be.at.least(found.accountsNeeded);
      const labelAt = (position: number) => fixture.accounts[position]?.label ?? "";
      expect(labelAt(found.layout.user)).to.match(
        /^(user|sender|payer|nftOwner|tokenAuthority|positionAuthority)$/,
      );
      for (const { pool, vaults } of found.layout.pools) {
        expect(labelAt(pool)).to.match(/^(poolState|whirlpool(One|Two)?|lbPair)$/);
        for (const vault of vaults)
          expect(labelAt(vault))
            .to.match(/vault|reserve/i)
            .and.not.match(/mint/i);
      }
    });
  }
});
