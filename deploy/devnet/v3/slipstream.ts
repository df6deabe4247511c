import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from "viem";
import {
  slipstreamFactoryAbi,
  slipstreamGaugeAbi,
  slipstreamPoolAddresses,
} from "../contracts/slipstream/abi.ts";
import { slipstreamFactory, slipstreamPool } from "../contracts/slipstream/artifacts.ts";
import type { Range } from "../desk.ts";
import type { Address, Transaction } from "../node/transactions.ts";
import {
  basePositions,
  CREATION_GAS,
  type DeployedPool,
  firstLiquidity,
  planPool,
  type Tokens,
} from "../pools.ts";
import { pairPrice } from "../ticks.ts";
import { SLIPSTREAM_POOLS, type SlipstreamPoolSpec } from "./market.ts";

export interface SlipstreamPool extends DeployedPool {
  readonly spec: SlipstreamPoolSpec;
  readonly gauge?: Address;
}

export interface SlipstreamDeployment {
  /** Deployer, and manager of the fees. */
  readonly owner: Address;
  readonly implementation: Address;
  readonly factory: Address;
  readonly pools: readonly SlipstreamPool[];
}

/** Where everything will be: follows from the owner, whose first transactions these are, and the tokens. */
export function planSlipstream(owner: Address, tokens: Tokens): SlipstreamDeployment {
  const created = (from: Address, nonce: number) =>
    getContractAddress({ from, nonce: BigInt(nonce) }).toLowerCase() as Hex;
  const [implementation, factory] = [created(owner, 0), created(owner, 1)];
  const find = slipstreamPoolAddresses(factory, implementation);
  // The factory's own nonces begin with 1; it makes all pools before the first gauge.
  let nonce = SLIPSTREAM_POOLS.length;
  const pools = SLIPSTREAM_POOLS.map((spec): SlipstreamPool => {
    const { tickSpacing } = spec;
    const pool = planPool(spec, {
      tokens,
      tickSpacing,
      addressOf: ({ token0, token1 }) =>
        find({ token0: token0.address, token1: token1.address, tickSpacing }),
    });
    return spec.staked === undefined
      ? { ...pool, spec }
      : { ...pool, spec, gauge: created(factory, ++nonce) };
  });
  return { owner, implementation, factory, pools };
}

export function slipstreamContracts(
  { owner, implementation }: SlipstreamDeployment,
  desk: Address,
): Transaction[] {
  const factory = encodeDeployData({ ...slipstreamFactory, args: [implementation, desk] });
  return [slipstreamPool.bytecode, factory].map((data) => ({ from: owner, gas: CREATION_GAS, data }));
}

export function slipstreamPools({ owner, factory, pools }: SlipstreamDeployment): Transaction[] {
  const abi = slipstreamFactoryAbi;
  const creations = pools.map(({ token0, token1, tickSpacing }) => {
    const args = [
      token0.address,
      token1.address,
      tickSpacing,
      pairPrice(token0, token1).sqrtPriceX96,
    ] as const;
    return encodeFunctionData({ abi, functionName: "createPool", args });
  });
  const gauges = pools.flatMap(({ address, gauge }) =>
    gauge ? [encodeFunctionData({ abi, functionName: "createGauge", args: [address] })] : [],
  );
  const fees = pools.map(({ address, fee }) =>
    encodeFunctionData({ abi, functionName: "setSwapFee", args: [address, fee] }),
  );
  return [...creations, ...gauges, ...fees].map((data) => ({
    from: owner,
    to: factory,
    data,
    gas: CREATION_GAS,
  }));
}

/** Liquidity, and the stakes of it. */
export function slipstreamLiquidity({ owner, pools }: SlipstreamDeployment, desk: Address): Transaction[] {
  const stakes = pools.flatMap((pool): Transaction[] => {
    const { gauge, spec } = pool;
    if (!gauge || !spec.staked) return [];
    const { lower, upper, liquidity } = basePositions(pool).at(-1) as Range & { liquidity: bigint };
    const amount = (liquidity * BigInt(Math.round(spec.staked * 1_000))) / 1_000n;
    const args = [lower, upper, amount] as const;
    const data = encodeFunctionData({ abi: slipstreamGaugeAbi, functionName: "deposit", args });
    return [{ from: owner, to: gauge, data, gas: CREATION_GAS }];
  });
  return [...firstLiquidity(pools, { desk, from: owner }), ...stakes];
}
