import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { type Context, describe, it } from "mocha";
import type { SolanaTransaction, TransactionMeta } from "./port.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  associatedTokenAddress,
  decodeAddress,
  findProgramAddress,
  METADATA_PROGRAM,
  metadataAddress,
} from "./program-address.ts";

/** Beside the repository: transactions as getTransaction gave them. */
const RECORDED = new URL("../../../../shared/data/0xjeffro-tx-parser/", import.meta.url);

type Recorded = Pick<SolanaTransaction, "transaction"> & { readonly meta: TransactionMeta };

describe("findProgramAddress", () => {
  it("returns the addresses that mainnet has", () => {
    // Pump.fun's global account and event authority, and its mint authority, as every one of its transactions names them.
    const pump = "6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P";
    expect(findProgramAddress(["global"], pump)).to.equal("4wTV1YmiEkRvAtNtsSGPtUrqRYQMe5SKy2uB4Jjaxnjf");
    expect(findProgramAddress(["__event_authority"], pump)).to.equal(
      "Ce6TQqeHC9p8KetsN6JsjHK7UTZk7nasjjnr7XxXp9F1",
    );
    expect(findProgramAddress(["mint-authority"], pump)).to.equal(
      "TSLvdd1pWpHVjahSpsvCXUbgwsL3JAcvokwaKt1eokM",
    );
  });

  it("rejects what is no address", () => {
    expect(() => decodeAddress("abc")).to.throw(TypeError, "abc is not 32 bytes");
  });

  it("returns the token accounts and metadata of recorded transactions", function () {
    // Payer, account, owner, mint, system program, token program.
    const created = listCalls(this).filter(({ program }) => program === ASSOCIATED_TOKEN_PROGRAM);
    expect(created.length).to.be.at.least(5);
    for (const { accounts } of created) {
      const [, account, owner = "", mint = "", , tokenProgram = ""] = accounts;
      expect(associatedTokenAddress(owner, mint, tokenProgram)).to.equal(account);
    }
    // Pump.fun's create: the mint is its first account, the metadata its seventh.
    const launched = listCalls(this).filter(({ accounts }) => accounts[5] === METADATA_PROGRAM);
    expect(launched.length).to.be.at.least(1);
    for (const { accounts } of launched) expect(metadataAddress(accounts[0] ?? "")).to.equal(accounts[6]);
  });
});

/** The top-level instructions of recorded transactions, with their accounts' addresses. */
function listCalls(running: Context): { program: string; accounts: string[] }[] {
  if (!existsSync(RECORDED)) {
    console.log("      pending: the recorded transactions are not beside the repository");
    running.skip();
  }
  const files = readdirSync(RECORDED).filter((file) => /^(?!broken).*\.json$/.test(file));
  return files
    .flatMap((file) => JSON.parse(readFileSync(new URL(file, RECORDED), "utf8")) as Recorded[])
    .flatMap(({ transaction: { message }, meta }) => {
      const { writable = [], readonly = [] } = meta.loadedAddresses ?? {};
      const keys = [...message.accountKeys, ...writable, ...readonly];
      return message.instructions.map(({ programIdIndex, accounts }) => ({
        program: keys[programIdIndex] ?? "",
        accounts: accounts.map((index) => keys[index] ?? ""),
      }));
    });
}
