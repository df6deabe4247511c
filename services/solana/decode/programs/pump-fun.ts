import type { InstructionLayout, ProgramLayout } from "../layout.ts";

/** The first versions trade the token against lamports that the bonding curve itself holds. */
function trade(name: string, discriminator: string): InstructionLayout {
  const native = { account: 3 };
  return {
    name,
    discriminator,
    effect: "trade",
    pools: [{ pool: 3, vaults: [4], native }],
    user: 6,
  };
}

/** The second versions trade against any token; where that is wrapped SOL, against the curve's lamports as ever. */
function tradeV2(name: string, discriminator: string): InstructionLayout {
  const native = { account: 10, quoteMint: 2 };
  return {
    name,
    discriminator,
    effect: "trade",
    pools: [{ pool: 10, vaults: [11, 12], native }],
    user: 13,
  };
}

/** Not in facts: pump-public-docs, TRADE_V3.md. Accounts of the three are the same. */
function tradeV3(name: string, discriminator: string): InstructionLayout {
  const native = { account: 5, quoteMint: 2, usesEventAmounts: true };
  return {
    name,
    discriminator,
    effect: "trade",
    pools: [{ pool: 5, vaults: [6, 7], native }],
    user: 8,
  };
}

/**
 * A bonding curve has no liquidity of users: its creation and its migration give no row, the pool that a migration
 * opens does. Its TradeEvent is read by curve.ts.
 */
export const pumpFun: ProgramLayout = {
  name: "pump-fun",
  dex: "pumpfun",
  address: "6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P",
  events: "cpi",
  instructions: [
    trade("buy", "66063d1201daebea"),
    trade("sell", "33e685a4017f83ad"),
    trade("buy_exact_sol_in", "38fc74089edfcd5f"),
    tradeV2("buy_v2", "b817ee6167c5d33d"),
    tradeV2("sell_v2", "5df6823ce7e940b2"),
    tradeV2("buy_exact_quote_in_v2", "c2ab1c46684d5b2f"),
    tradeV3("buy_v3", "07051dc4f5176550"),
    tradeV3("sell_v3", "1c92de7726c469d5"),
    tradeV3("buy_exact_quote_in_v3", "e1f7501ed5b38488"),
  ],
};
