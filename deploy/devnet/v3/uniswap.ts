import { encodeFunctionData, type Hex } from "viem";
import {
  factoryAbi,
  poolAbi,
  poolAddresses,
  readFactoryBytecode,
  TICK_SPACING,
} from "../contracts/uniswap.ts";
import type { PoolSpec } from "../market.ts";
import type { Address, Transaction } from "../node/transactions.ts";
import {
  CREATION_GAS,
  type DeployedPool,
  firstLiquidity,
  initialize,
  planPool,
  type Tokens,
} from "../pools.ts";

/** Genuine Uniswap v3 under some factory: Uniswap's own, and that of a clone by configuration alone. */
export interface UniswapDeployment {
  readonly owner: Address;
  readonly factory: Address;
  readonly pools: readonly DeployedPool[];
}

export function planUniswap(
  specs: readonly PoolSpec[],
  { owner, factory, tokens }: { owner: Address; factory: Address; tokens: Tokens },
): UniswapDeployment {
  const find = poolAddresses(factory);
  const addressOf = ({
    token0,
    token1,
    fee,
  }: {
    token0: { address: Hex };
    token1: { address: Hex };
    fee: number;
  }) => find({ token0: token0.address, token1: token1.address, fee });
  const pools = specs.map((spec) =>
    planPool(spec, { tokens, tickSpacing: TICK_SPACING[spec.fee as keyof typeof TICK_SPACING], addressOf }),
  );
  return { owner, factory, pools };
}

export function uniswapFactory({ owner }: UniswapDeployment): Transaction {
  return { from: owner, gas: CREATION_GAS, data: readFactoryBytecode() };
}

export function uniswapPools({ owner, factory, pools }: UniswapDeployment): Transaction[] {
  const enable = encodeFunctionData({
    abi: factoryAbi,
    functionName: "enableFeeAmount",
    args: [100, TICK_SPACING[100]],
  });
  const creations = pools.map(({ token0, token1, fee }) =>
    encodeFunctionData({
      abi: factoryAbi,
      functionName: "createPool",
      args: [token0.address, token1.address, fee],
    }),
  );
  return [enable, ...creations].map((data) => ({ from: owner, to: factory, data, gas: CREATION_GAS }));
}

export function uniswapLiquidity({ owner, pools }: UniswapDeployment, desk: Address): Transaction[] {
  const prices = pools.flatMap((pool) => {
    const share = pool.spec.protocolFee;
    if (!share) return [initialize(pool, owner)];
    const data = encodeFunctionData({ abi: poolAbi, functionName: "setFeeProtocol", args: [share, share] });
    return [initialize(pool, owner), { from: owner, to: pool.address, data, gas: CREATION_GAS }];
  });
  return [...prices, ...firstLiquidity(pools, { desk, from: owner })];
}
