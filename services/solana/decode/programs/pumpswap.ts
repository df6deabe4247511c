import type { EventLayout, ProgramLayout } from "../layout.ts";

/** Events: pump_amm's IDL. Protocol's and creator's fees are paid past the pool by a buyer, out of the pool by a seller. */
const buyEvent: EventLayout = {
  name: "BuyEvent",
  discriminator: "67f4521f2cf57777",
  amounts: [{ offset: 96 }, { offset: 8 }],
  order: "in-out",
};
const sellEvent: EventLayout = {
  name: "SellEvent",
  discriminator: "3e2f370aa503dc2a",
  amounts: [{ offset: 8 }, { offset: 96 }],
  order: "in-out",
};
const depositEvent: EventLayout = {
  name: "DepositEvent",
  discriminator: "78f83d531f8e6b90",
  amounts: [{ offset: 64 }, { offset: 72 }],
  order: "vaults",
};
const withdrawEvent: EventLayout = {
  ...depositEvent,
  name: "WithdrawEvent",
  discriminator: "1609851aa02c47c0",
};
const createPoolEvent: EventLayout = {
  name: "CreatePoolEvent",
  discriminator: "b1310cd2a076a774",
  amounts: [{ offset: 108 }, { offset: 116 }],
  order: "vaults",
};

const TRADE = { effect: "trade", pools: [{ pool: 0, vaults: [7, 8] }], user: 1 } as const;
const PROVIDE = { pools: [{ pool: 0, vaults: [9, 10] }], user: 2 } as const;

export const pumpswap: ProgramLayout = {
  name: "pumpswap",
  dex: "pumpfun",
  address: "pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA",
  events: "cpi",
  instructions: [
    { ...TRADE, name: "buy", discriminator: "66063d1201daebea", event: buyEvent },
    { ...TRADE, name: "sell", discriminator: "33e685a4017f83ad", event: sellEvent },
    { ...TRADE, name: "buy_exact_quote_in", discriminator: "c62e1552b4d9e870", event: buyEvent },
    // Not in facts: pump-public-docs, PUMP_SWAP_TRADE_V2.md. The pool keeps the fees for later, among what it received.
    { ...TRADE, name: "buy_v2", discriminator: "b817ee6167c5d33d" },
    { ...TRADE, name: "sell_v2", discriminator: "5df6823ce7e940b2" },
    { ...TRADE, name: "buy_exact_quote_in_v2", discriminator: "c2ab1c46684d5b2f" },
    // Not in facts: MULTI_HOP_SWAP.md. A hop is a pool or a bonding curve; each names both mints, itself, both vaults.
    {
      name: "multi_hop_swap",
      discriminator: "2b644913e9f66f94",
      effect: "trade",
      pools: [],
      route: { firstAccount: 16, groupSize: 5, pool: 2, vaults: [3, 4], isContiguous: true },
      user: 0,
    },
    {
      ...PROVIDE,
      name: "deposit",
      discriminator: "f223c68952e1f2b6",
      effect: "add_liquidity",
      event: depositEvent,
    },
    {
      ...PROVIDE,
      name: "withdraw",
      discriminator: "b712469c946da122",
      effect: "remove_liquidity",
      event: withdrawEvent,
    },
    {
      ...PROVIDE,
      name: "create_pool",
      discriminator: "e992d18ecf6840bc",
      effect: "add_liquidity",
      event: createPoolEvent,
    },
  ],
};
