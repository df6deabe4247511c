import type { InstructionLayout, ProgramLayout } from "../layout.ts";

const PROVIDE = { pools: [{ pool: 0, vaults: [9, 10] }] } as const;

type Named = Pick<InstructionLayout, "name" | "discriminator">;

function add(named: Named): InstructionLayout {
  return { ...named, ...PROVIDE, effect: "add_liquidity", user: 13 };
}

/** With a config account, everything behind it moves by one. */
function initialize(
  named: Named,
  { vaults, user }: { vaults: readonly [number, number]; user: number },
): InstructionLayout {
  return { ...named, effect: "add_liquidity", pools: [{ pool: 0, vaults }], user };
}

/**
 * A pool's tokens lie in the token vaults of Meteora's dynamic vaults, which several pools share: the transfers are one
 * call deeper, and a vault's own balance is not the pool's. A permissioned pool is created empty.
 */
export const meteoraDammV1: ProgramLayout = {
  name: "meteora-damm-v1",
  dex: "meteora",
  address: "Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB",
  events: "log",
  areVaultsShared: true,
  instructions: [
    {
      name: "swap",
      discriminator: "f8c69e91e17587c8",
      effect: "trade",
      pools: [{ pool: 0, vaults: [5, 6] }],
      user: 12,
    },
    add({ name: "add_balance_liquidity", discriminator: "a8e3323ebdab54b0" }),
    add({ name: "add_imbalance_liquidity", discriminator: "4f237a54ad0f5dbf" }),
    add({ name: "bootstrap_liquidity", discriminator: "04e4d747e1fd77ce" }),
    {
      ...PROVIDE,
      name: "remove_balance_liquidity",
      discriminator: "856d2cb338ee7221",
      effect: "remove_liquidity",
      user: 13,
    },
    {
      ...PROVIDE,
      name: "remove_liquidity_single_side",
      discriminator: "5454b142feb90afb",
      effect: "remove_liquidity",
      user: 12,
    },
    initialize(
      { name: "initialize_permissionless_pool", discriminator: "76ad299dad486167" },
      { vaults: [6, 7], user: 17 },
    ),
    initialize(
      { name: "initialize_permissionless_pool_with_fee_tier", discriminator: "06874493e552a971" },
      { vaults: [6, 7], user: 17 },
    ),
    initialize(
      {
        name: "initialize_permissionless_constant_product_pool_with_config",
        discriminator: "07a68aabceabecf4",
      },
      { vaults: [7, 8], user: 18 },
    ),
    initialize(
      {
        name: "initialize_permissionless_constant_product_pool_with_config2",
        discriminator: "3095dc823d0b09b2",
      },
      { vaults: [7, 8], user: 18 },
    ),
    initialize(
      {
        name: "initialize_customizable_permissionless_constant_product_pool",
        discriminator: "9118acc2db7d03be",
      },
      { vaults: [6, 7], user: 17 },
    ),
  ],
};
