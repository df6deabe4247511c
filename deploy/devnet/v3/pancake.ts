import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from "viem";
import {
  PANCAKE_TICK_SPACING,
  pancakeFactoryAbi,
  pancakePoolAddresses,
  pancakePoolCodeHolder,
  readPancakeFactoryBytecode,
} from "../contracts/pancake/abi.ts";
import { pancakeDeployer } from "../contracts/pancake/artifacts.ts";
import type { Address, Transaction } from "../node/transactions.ts";
import {
  CREATION_GAS,
  type DeployedPool,
  firstLiquidity,
  initialize,
  planPool,
  type Tokens,
} from "../pools.ts";
import { PANCAKE_POOLS } from "./market.ts";

export interface PancakeDeployment {
  readonly owner: Address;
  readonly deployer: Address;
  readonly factory: Address;
  readonly pools: readonly DeployedPool[];
}

/** Where everything will be: follows from the owner, whose first transactions these are, and the tokens. */
export function planPancake(owner: Address, tokens: Tokens): PancakeDeployment {
  const [, deployer, factory] = ownContracts(owner);
  const find = pancakePoolAddresses(deployer);
  const pools = PANCAKE_POOLS.map((spec) =>
    planPool(spec, {
      tokens,
      tickSpacing: PANCAKE_TICK_SPACING[spec.fee as keyof typeof PANCAKE_TICK_SPACING],
      addressOf: ({ token0, token1, fee }) => find({ token0: token0.address, token1: token1.address, fee }),
    }),
  );
  return { owner, deployer, factory, pools };
}

/** Holder of the pool's code, deployer, factory. */
function ownContracts(owner: Address): [Hex, Hex, Hex] {
  const created = (nonce: bigint) => getContractAddress({ from: owner, nonce }).toLowerCase() as Hex;
  return [created(0n), created(1n), created(2n)];
}

export function pancakeContracts({ owner, deployer }: PancakeDeployment): Transaction[] {
  const [holder] = ownContracts(owner);
  // The factory's one constructor argument.
  const argument = deployer.slice(2).padStart(64, "0");
  return [
    pancakePoolCodeHolder(),
    encodeDeployData({ ...pancakeDeployer, args: [holder] }),
    `${readPancakeFactoryBytecode()}${argument}` as const,
  ].map((data) => ({ from: owner, gas: CREATION_GAS, data }));
}

export function pancakePools({ owner, factory, pools }: PancakeDeployment): Transaction[] {
  return pools.map(({ token0, token1, fee }) => {
    const args = [token0.address, token1.address, fee] as const;
    const data = encodeFunctionData({ abi: pancakeFactoryAbi, functionName: "createPool", args });
    return { from: owner, to: factory, gas: CREATION_GAS, data };
  });
}

export function pancakeLiquidity({ owner, pools }: PancakeDeployment, desk: Address): Transaction[] {
  return [...pools.map((pool) => initialize(pool, owner)), ...firstLiquidity(pools, { desk, from: owner })];
}
