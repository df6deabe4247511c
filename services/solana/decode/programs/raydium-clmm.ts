import type { EventLayout, InstructionLayout, ProgramLayout } from "../layout.ts";

/** Events: raydium-clmm, programs/amm/src/states/pool.rs and position.rs. Amounts of a swap are of token 0 and 1, not in and out. */
const swapEvent: EventLayout = {
  name: "SwapEvent",
  discriminator: "40c6cde8260871e2",
  amounts: [
    { offset: 128, toleranceOffsets: [136] },
    { offset: 144, toleranceOffsets: [152] },
  ],
  order: "any",
};
const increaseEvent: EventLayout = {
  name: "IncreaseLiquidityEvent",
  discriminator: "314f69d420221e54",
  amounts: [
    { offset: 48, toleranceOffsets: [64] },
    { offset: 56, toleranceOffsets: [72] },
  ],
  order: "vaults",
};
const createPositionEvent: EventLayout = {
  name: "CreatePersonalPositionEvent",
  discriminator: "641e57f9c4df9ace",
  amounts: [
    { offset: 120, toleranceOffsets: [136] },
    { offset: 128, toleranceOffsets: [144] },
  ],
  order: "vaults",
};
/** Fees owed are paid in the same transfer. */
const decreaseEvent: EventLayout = {
  name: "DecreaseLiquidityEvent",
  discriminator: "3ade563a44325538",
  amounts: [
    { offset: 48, addedOffsets: [64], toleranceOffsets: [104] },
    { offset: 56, addedOffsets: [72], toleranceOffsets: [112] },
  ],
  order: "vaults",
};

const SWAP = {
  effect: "trade",
  pools: [{ pool: 2, vaults: [5, 6] }],
  user: 0,
  event: swapEvent,
} as const;
const INCREASE = {
  effect: "add_liquidity",
  pools: [{ pool: 2, vaults: [9, 10] }],
  user: 0,
  event: increaseEvent,
} as const;
const DECREASE = {
  effect: "remove_liquidity",
  pools: [{ pool: 3, vaults: [5, 6] }],
  user: 0,
  liquidityOffset: 8,
  event: decreaseEvent,
} as const;

function open(name: string, discriminator: string, pool: number): InstructionLayout {
  const vaults = [pool + 7, pool + 8] as const;
  return {
    name,
    discriminator,
    effect: "add_liquidity",
    pools: [{ pool, vaults }],
    user: 0,
    event: createPositionEvent,
  };
}

/** Pools are created empty. Limit orders are no trades of their own: the swaps that fill them are. */
export const raydiumClmm: ProgramLayout = {
  name: "raydium-clmm",
  dex: "raydium",
  address: "CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK",
  events: "log",
  instructions: [
    { ...SWAP, name: "swap", discriminator: "f8c69e91e17587c8" },
    { ...SWAP, name: "swap_v2", discriminator: "2b04ed0b1ac91e62" },
    // Of each hop: its config, the pool, the user's output account, both vaults, the output mint, the observations,
    // and any number of tick arrays.
    {
      name: "swap_router_base_in",
      discriminator: "457d73daf5baf2c4",
      effect: "trade",
      pools: [],
      route: { firstAccount: 6, groupSize: 7, pool: 1, vaults: [3, 4] },
      user: 0,
      event: swapEvent,
    },
    { ...INCREASE, name: "increase_liquidity", discriminator: "2e9cf3760dcdfbb2" },
    { ...INCREASE, name: "increase_liquidity_v2", discriminator: "851d59df45eeb00a" },
    open("open_position", "87802f4d0f98f031", 5),
    open("open_position_v2", "4db84ad67056f1c7", 5),
    open("open_position_with_token22_nft", "4dffae527d1dc92e", 4),
    { ...DECREASE, name: "decrease_liquidity", discriminator: "a026d06f685b2c01" },
    { ...DECREASE, name: "decrease_liquidity_v2", discriminator: "3a7fbc3e4f52c460" },
  ],
};
