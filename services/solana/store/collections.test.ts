import { expect } from "chai";
import { describe, it } from "mocha";
import { tokenTransactions } from "../contract.ts";
import { EXCHANGES as REQUESTABLE } from "../endpoints/params.ts";
import { EXCHANGES, TX_TYPES } from "./collections.ts";

describe("numbers in stored rows", () => {
  it("are those that can be requested", () => {
    expect(EXCHANGES).to.deep.equal(REQUESTABLE);
    for (const dex of EXCHANGES) expect(tokenTransactions.params.dex.safeParse(dex).success).to.equal(true);
    for (const type of TX_TYPES)
      expect(tokenTransactions.params.tx_type.safeParse(type).success).to.equal(true);
  });

  it("never change what they stand for: stores keep them", () => {
    expect(EXCHANGES).to.deep.equal(["raydium", "orca", "meteora", "pumpfun"]);
    expect(TX_TYPES).to.deep.equal(["buy", "sell", "add_liquidity", "remove_liquidity"]);
  });
});
