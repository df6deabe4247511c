import type { EventLayout, ProgramLayout } from "../layout.ts";

/** A referrer's share is paid out of the vault, on the side that fees are taken from. */
const swapEvent: EventLayout = {
  name: "EvtSwap2",
  discriminator: "bd4233a826507599",
  amounts: [{ offset: 52 }, { offset: 140, toleranceOffsets: [124] }],
  order: "in-out",
};
const liquidityChange: EventLayout = {
  name: "EvtLiquidityChange",
  discriminator: "c5ab4e7fe0d3570d",
  amounts: [{ offset: 96 }, { offset: 104 }],
  order: "vaults",
};

const SWAP = { effect: "trade", pools: [{ pool: 1, vaults: [4, 5] }], user: 8, event: swapEvent } as const;
const REMOVE = {
  effect: "remove_liquidity",
  pools: [{ pool: 1, vaults: [5, 6] }],
  user: 10,
  event: liquidityChange,
} as const;
const CREATE = { effect: "add_liquidity" } as const;

export const meteoraDammV2: ProgramLayout = {
  name: "meteora-damm-v2",
  dex: "meteora",
  address: "cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG",
  events: "cpi",
  instructions: [
    { ...SWAP, name: "swap", discriminator: "f8c69e91e17587c8" },
    { ...SWAP, name: "swap2", discriminator: "414b3f4ceb5b5b88" },
    {
      name: "add_liquidity",
      discriminator: "b59d59438fb63448",
      effect: "add_liquidity",
      pools: [{ pool: 0, vaults: [4, 5] }],
      user: 9,
      event: liquidityChange,
    },
    { ...REMOVE, name: "remove_liquidity", discriminator: "5055d14818ceb16c" },
    { ...REMOVE, name: "remove_all_liquidity", discriminator: "0a333d2370691855" },
    {
      ...CREATE,
      name: "initialize_pool",
      discriminator: "5fb40aac54aee828",
      pools: [{ pool: 6, vaults: [10, 11] }],
      user: 3,
    },
    {
      ...CREATE,
      name: "initialize_pool_with_dynamic_config",
      discriminator: "955248c5fdfc440f",
      pools: [{ pool: 7, vaults: [11, 12] }],
      user: 3,
    },
    {
      ...CREATE,
      name: "initialize_customizable_pool",
      discriminator: "14a1f118bdddb402",
      pools: [{ pool: 5, vaults: [9, 10] }],
      user: 3,
    },
  ],
};
