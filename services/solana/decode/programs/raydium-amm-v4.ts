import type { EventLayout, InstructionLayout, ProgramLayout } from "../layout.ts";

/** The order book's vaults follow the pool's: it may pay out to the pool during an instruction. */
const withoutTargetOrders = {
  pools: [{ pool: 1, vaults: [4, 5] }],
  orderBookVaults: [11, 12],
  user: 16,
} as const;
const withTargetOrders = {
  pools: [{ pool: 1, vaults: [5, 6] }],
  orderBookVaults: [12, 13],
  user: 17,
} as const;
const withoutOrderBook = { pools: [{ pool: 1, vaults: [3, 4] }], user: 7 } as const;
const PROVIDE = { pools: [{ pool: 1, vaults: [6, 7] }] } as const;

/** Layouts of ray_log: raydium-amm, program/src/log.rs; after the byte of its kind. */
const swapBaseIn: EventLayout = {
  name: "SwapBaseInLog",
  discriminator: "03",
  amounts: [{ offset: 0 }, { offset: 48 }],
  order: "in-out",
};
const swapBaseOut: EventLayout = {
  name: "SwapBaseOutLog",
  discriminator: "04",
  amounts: [{ offset: 48 }, { offset: 8 }],
  order: "in-out",
};
const deposit: EventLayout = {
  name: "DepositLog",
  discriminator: "01",
  amounts: [{ offset: 80 }, { offset: 88 }],
  order: "vaults",
};
const withdraw: EventLayout = {
  name: "WithdrawLog",
  discriminator: "02",
  amounts: [{ offset: 72 }, { offset: 80 }],
  order: "vaults",
};
const init: EventLayout = {
  name: "InitLog",
  discriminator: "00",
  amounts: [{ offset: 34 }, { offset: 26 }],
  order: "vaults",
};

/** The pool's balance in the order book comes back first: what leaves the vaults is what the user gets. */
const WITHDRAW = {
  ...PROVIDE,
  name: "withdraw",
  discriminator: "04",
  effect: "remove_liquidity",
  event: withdraw,
} as const;

/** Swaps come with 18 accounts, or with 17 without the target orders; the second versions with 8. */
function swaps(name: string, [v1, v2]: readonly [string, string], event: EventLayout): InstructionLayout[] {
  const swap = { name, effect: "trade", event, discriminator: v1 } as const;
  return [
    { ...swap, ...withTargetOrders },
    { ...swap, ...withoutTargetOrders, accountCount: 17 },
    { ...swap, ...withoutOrderBook, name: `${name}_v2`, discriminator: v2 },
  ];
}

export const raydiumAmmV4: ProgramLayout = {
  name: "raydium-amm-v4",
  dex: "raydium",
  address: "675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8",
  events: "ray_log",
  instructions: [
    ...swaps("swap_base_in", ["09", "10"], swapBaseIn),
    ...swaps("swap_base_out", ["0b", "11"], swapBaseOut),
    {
      ...PROVIDE,
      name: "deposit",
      discriminator: "03",
      effect: "add_liquidity",
      user: 12,
      event: deposit,
    },
    { ...WITHDRAW, user: 18 },
    // Without the two accounts of the withdraw queue; one more account follows where a referrer is named.
    { ...WITHDRAW, user: 16, accountCount: 20 },
    { ...WITHDRAW, user: 16, accountCount: 21 },
    {
      name: "initialize2",
      discriminator: "01",
      effect: "add_liquidity",
      pools: [{ pool: 4, vaults: [10, 11] }],
      user: 17,
      event: init,
    },
  ],
};
