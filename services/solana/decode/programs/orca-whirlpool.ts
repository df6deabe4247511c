import type { EventLayout, ProgramLayout } from "../layout.ts";

/** Events (since 2025): the program's IDL. Amounts are those transferred, transfer fees included. */
const traded: EventLayout = {
  name: "Traded",
  discriminator: "e1ca49af932ba096",
  amounts: [
    { offset: 65, toleranceOffsets: [81] },
    { offset: 73, toleranceOffsets: [89] },
  ],
  order: "in-out",
};
const liquidityIncreased: EventLayout = {
  name: "LiquidityIncreased",
  discriminator: "1e0790b566fe9ba1",
  amounts: [
    { offset: 88, toleranceOffsets: [104] },
    { offset: 96, toleranceOffsets: [112] },
  ],
  order: "vaults",
};
const liquidityDecreased: EventLayout = {
  ...liquidityIncreased,
  name: "LiquidityDecreased",
  discriminator: "a601244770cab5ab",
};

const SWAP = { effect: "trade", event: traded } as const;
const INCREASE = { effect: "add_liquidity", event: liquidityIncreased } as const;
const DECREASE = { effect: "remove_liquidity", event: liquidityDecreased } as const;
const POSITION = { pools: [{ pool: 0, vaults: [7, 8] }], user: 2 } as const;
const POSITION_V2 = { pools: [{ pool: 0, vaults: [11, 12] }], user: 4 } as const;

/** Pools are created empty. Fees of a position are collected on their own. */
export const orcaWhirlpool: ProgramLayout = {
  name: "orca-whirlpool",
  dex: "orca",
  address: "whirLbMiicVdio4qvUfM5KAg6Ct8VwpYzGff3uctyCc",
  events: "log",
  instructions: [
    {
      ...SWAP,
      name: "swap",
      discriminator: "f8c69e91e17587c8",
      pools: [{ pool: 2, vaults: [4, 6] }],
      user: 1,
    },
    {
      ...SWAP,
      name: "swap_v2",
      discriminator: "2b04ed0b1ac91e62",
      pools: [{ pool: 4, vaults: [8, 10] }],
      user: 3,
    },
    {
      ...SWAP,
      name: "two_hop_swap",
      discriminator: "c360ed6c44a2dbe6",
      pools: [
        { pool: 2, vaults: [5, 7] },
        { pool: 3, vaults: [9, 11] },
      ],
      user: 1,
    },
    // The first pool pays into the second one's vault.
    {
      ...SWAP,
      name: "two_hop_swap_v2",
      discriminator: "ba8fd11dfe02c275",
      pools: [
        { pool: 0, vaults: [9, 10] },
        { pool: 1, vaults: [11, 12] },
      ],
      user: 14,
    },
    { ...INCREASE, ...POSITION, name: "increase_liquidity", discriminator: "2e9cf3760dcdfbb2" },
    { ...INCREASE, ...POSITION_V2, name: "increase_liquidity_v2", discriminator: "851d59df45eeb00a" },
    {
      ...INCREASE,
      ...POSITION_V2,
      name: "increase_liquidity_by_token_amounts_v2",
      discriminator: "effb097cd2c6352b",
    },
    { ...DECREASE, ...POSITION, name: "decrease_liquidity", discriminator: "a026d06f685b2c01" },
    { ...DECREASE, ...POSITION_V2, name: "decrease_liquidity_v2", discriminator: "3a7fbc3e4f52c460" },
    {
      name: "reposition_liquidity_v2",
      discriminator: "bfa9e00b83139efd",
      effect: "rebalance",
      pools: [{ pool: 0, vaults: [12, 13] }],
      user: 4,
    },
  ],
};
