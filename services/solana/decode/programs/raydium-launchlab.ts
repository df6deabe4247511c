import type { EventLayout, ProgramLayout } from "../layout.ts";

/** Shares of the fee that are paid out of the quote vault at once: the platform's, the creator's, a referrer's. */
const FEE_SHARES = [112, 120, 128] as const;
const tradeEvent: EventLayout = {
  name: "TradeEvent",
  discriminator: "bddb7fd34ee661ee",
  amounts: [
    { offset: 88, toleranceOffsets: FEE_SHARES },
    { offset: 96, toleranceOffsets: FEE_SHARES },
  ],
  order: "in-out",
};

const SWAP = {
  effect: "trade",
  pools: [{ pool: 4, vaults: [7, 8] }],
  user: 0,
  event: tradeEvent,
} as const;

/**
 * A bonding curve has no liquidity of users: its creation and its migration give no row, the pool that a migration
 * opens does.
 */
export const raydiumLaunchlab: ProgramLayout = {
  name: "raydium-launchlab",
  dex: "raydium",
  address: "LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj",
  events: "cpi",
  instructions: [
    { ...SWAP, name: "buy_exact_in", discriminator: "faea0d7bd59c13ec" },
    { ...SWAP, name: "buy_exact_out", discriminator: "18d3742869039938" },
    { ...SWAP, name: "sell_exact_in", discriminator: "9527de9bd37c981a" },
    { ...SWAP, name: "sell_exact_out", discriminator: "5fc8472208090ba6" },
  ],
};
