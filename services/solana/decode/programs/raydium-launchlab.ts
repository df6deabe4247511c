import type { ProgramLayout } from "../layout.ts";

const SWAP = { effect: "trade", pools: [{ pool: 4, vaults: [7, 8] }], user: 0 } as const;

/**
 * A bonding curve has no liquidity of users: its creation and its migration give no row, the pool that a migration
 * opens does. Fees stay in the quote vault.
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
