import type { EventLayout, ProgramLayout } from "../layout.ts";

/** Events: raydium-cp-swap, programs/cp-swap/src/states/events.rs. Later versions only add fields at the end. */
const swapEvent: EventLayout = {
  name: "SwapEvent",
  discriminator: "40c6cde8260871e2",
  amounts: [
    { offset: 48, toleranceOffsets: [64] },
    { offset: 56, toleranceOffsets: [72] },
  ],
  order: "in-out",
};
const lpChangeEvent: EventLayout = {
  name: "LpChangeEvent",
  discriminator: "79a3cdc939da753c",
  amounts: [
    { offset: 56, toleranceOffsets: [72] },
    { offset: 64, toleranceOffsets: [80] },
  ],
  order: "vaults",
};

const SWAP = {
  effect: "trade",
  pools: [{ pool: 3, vaults: [6, 7] }],
  user: 0,
  event: swapEvent,
} as const;
const PROVIDE = { pools: [{ pool: 2, vaults: [6, 7] }], user: 0, event: lpChangeEvent } as const;

export const raydiumCpmm: ProgramLayout = {
  name: "raydium-cpmm",
  dex: "raydium",
  address: "CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C",
  events: "log",
  instructions: [
    { ...SWAP, name: "swap_base_input", discriminator: "8fbe5adac41e33de" },
    { ...SWAP, name: "swap_base_output", discriminator: "37d96256a34ab4ad" },
    { ...PROVIDE, name: "deposit", discriminator: "f223c68952e1f2b6", effect: "add_liquidity" },
    { ...PROVIDE, name: "withdraw", discriminator: "b712469c946da122", effect: "remove_liquidity" },
    {
      name: "initialize",
      discriminator: "afaf6d1f0d989bed",
      effect: "add_liquidity",
      pools: [{ pool: 3, vaults: [10, 11] }],
      user: 0,
    },
    {
      name: "initialize_with_permission",
      discriminator: "3f37fe4131b25979",
      effect: "add_liquidity",
      pools: [{ pool: 4, vaults: [11, 12] }],
      user: 0,
    },
  ],
};
