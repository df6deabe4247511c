import { expect } from "chai";
import { describe, it } from "mocha";
import { tokenTransactions } from "../contract.ts";
import { EXCHANGES as ASKED_FOR } from "../endpoints/params.ts";
import { EXCHANGES, TX_TYPES } from "./collections.ts";

describe("numbers in stored rows", () => {
  it("are those of what can be asked for", () => {
    expect(EXCHANGES).to.deep.equal(ASKED_FOR);
    for (const dex of EXCHANGES) expect(tokenTransactions.params.dex.safeParse(dex).success).to.equal(true);
    for (const type of TX_TYPES)
      expect(tokenTransactions.params.tx_type.safeParse(type).success).to.equal(true);
  });

  it("never change what they stand for: stores keep them", () => {
    expect(EXCHANGES).to.deep.equal(["raydium", "orca", "meteora", "pumpfun"]);
    expect(TX_TYPES).to.deep.equal(["buy", "sell", "add_liquidity", "remove_liquidity"]);
  });
});
