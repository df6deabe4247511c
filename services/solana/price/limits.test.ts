import { expect } from "chai";
import { describe, it } from "mocha";
import { TOKENS } from "../../../deploy/devnet/solana/market/tokens.ts";
import { ANCHORS } from "./limits.ts";

describe("anchors of Solana's prices", () => {
  it("are the mints of USDC and USDT, letter by letter", () => {
    expect(ANCHORS).to.deep.equal([TOKENS.USDC.mint, TOKENS.USDT.mint]);
  });
});
