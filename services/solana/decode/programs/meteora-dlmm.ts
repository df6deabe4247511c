import type { EventLayout, InstructionLayout, ProgramLayout } from "../layout.ts";

/** A referrer's share of the fee is paid past the reserve. */
const swapEvent: EventLayout = {
  name: "Swap",
  discriminator: "516ce3becdd00ac4",
  amounts: [
    { offset: 72, toleranceOffsets: [121] },
    { offset: 80, toleranceOffsets: [121] },
  ],
  order: "in-out",
};

const SWAP = { effect: "trade", pools: [{ pool: 0, vaults: [2, 3] }], user: 10, event: swapEvent } as const;
const BOTH = [{ pool: 1, vaults: [5, 6] }] as const;
/** The pool's other token is not named. */
const ONE = [{ pool: 1, vaults: [4] }] as const;

type Named = Pick<InstructionLayout, "name" | "discriminator">;

/** The first versions name two bin arrays before the sender, the second ones none. */
function add(named: Named, sender: 9 | 11): InstructionLayout {
  return { ...named, effect: "add_liquidity", pools: BOTH, user: sender };
}

function addOneSide(named: Named, sender: 6 | 8): InstructionLayout {
  return { ...named, effect: "add_liquidity", pools: ONE, user: sender };
}

function remove(named: Named, sender: 9 | 11): InstructionLayout {
  return { ...named, effect: "remove_liquidity", pools: BOTH, user: sender };
}

/** Pools are created empty. Limit orders are no trades of their own: the swaps that fill them are. */
export const meteoraDlmm: ProgramLayout = {
  name: "meteora-dlmm",
  dex: "meteora",
  address: "LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo",
  events: "cpi",
  instructions: [
    { ...SWAP, name: "swap", discriminator: "f8c69e91e17587c8" },
    { ...SWAP, name: "swap2", discriminator: "414b3f4ceb5b5b88" },
    { ...SWAP, name: "swap_exact_out", discriminator: "fa49652126cf4bb8" },
    { ...SWAP, name: "swap_exact_out2", discriminator: "2bd7f784893cf351" },
    { ...SWAP, name: "swap_with_price_impact", discriminator: "38ade6d0ade49ccd" },
    { ...SWAP, name: "swap_with_price_impact2", discriminator: "4a62c0d6b1334b33" },
    add({ name: "add_liquidity", discriminator: "b59d59438fb63448" }, 11),
    add({ name: "add_liquidity2", discriminator: "e4a24e1c46db7473" }, 9),
    add({ name: "add_liquidity_by_strategy", discriminator: "0703967f94283dc8" }, 11),
    add({ name: "add_liquidity_by_strategy2", discriminator: "03dd95da6f8d76d5" }, 9),
    add({ name: "add_liquidity_by_weight", discriminator: "1c8cee63e7a21595" }, 11),
    add({ name: "add_liquidity_by_weight2", discriminator: "d13b3f5b6fc899e4" }, 9),
    addOneSide({ name: "add_liquidity_by_strategy_one_side", discriminator: "2905eeaf64e106cd" }, 8),
    addOneSide({ name: "add_liquidity_one_side", discriminator: "5e9b6797465fdca5" }, 8),
    addOneSide({ name: "add_liquidity_one_side_precise", discriminator: "a1c26754ab47fa9a" }, 8),
    addOneSide({ name: "add_liquidity_one_side_precise2", discriminator: "2133a3c975627de7" }, 6),
    remove({ name: "remove_liquidity", discriminator: "5055d14818ceb16c" }, 11),
    remove({ name: "remove_liquidity2", discriminator: "e6d7527ff165e392" }, 9),
    remove({ name: "remove_liquidity_by_range", discriminator: "1a526698f04a691a" }, 11),
    remove({ name: "remove_liquidity_by_range2", discriminator: "cc02c391359191cd" }, 9),
    remove({ name: "remove_all_liquidity", discriminator: "0a333d2370691855" }, 11),
    {
      name: "rebalance_liquidity",
      discriminator: "5c04b0c177b95309",
      effect: "rebalance",
      pools: BOTH,
      user: 9,
    },
  ],
};
