import { encodeFunctionData, type Hex } from "viem";
import { aaveConfiguratorAbi, aavePoolAbi, erc20Abi } from "../contracts/aave/abi.ts";
import { priceFeed } from "../contracts/aave/artifacts.ts";
import { type Address, type Transaction, toHex } from "../node/transactions.ts";
import type { DeployedToken } from "../pools.ts";

/** Fixed, which spares an estimate per transaction; nothing here needs it in full. */
const GAS: Hex = toHex(1_500_000);

export const VARIABLE = 2n;
export const STABLE = 1n;

function call(from: Address, to: Address, data: Hex): Transaction {
  return { from, to, data, gas: GAS };
}

interface PoolCall {
  readonly asset: Address;
  readonly amount: bigint;
}

/** Builders of one transaction each; amounts are raw, 2^256 − 1 is all. Who pays must have approved the Pool. */
export const aaveTransactions = {
  supply: (from: Address, pool: Address, { asset, amount }: PoolCall) => {
    const args = [asset, amount, from, 0] as const;
    return call(from, pool, encodeFunctionData({ abi: aavePoolAbi, functionName: "supply", args }));
  },
  withdraw: (from: Address, pool: Address, { asset, amount }: PoolCall) => {
    const args = [asset, amount, from] as const;
    return call(from, pool, encodeFunctionData({ abi: aavePoolAbi, functionName: "withdraw", args }));
  },
  borrow: (
    from: Address,
    pool: Address,
    { asset, amount, mode = VARIABLE }: PoolCall & { mode?: bigint },
  ) => {
    const args = [asset, amount, mode, 0, from] as const;
    return call(from, pool, encodeFunctionData({ abi: aavePoolAbi, functionName: "borrow", args }));
  },
  repay: (from: Address, pool: Address, { asset, amount, mode = VARIABLE }: PoolCall & { mode?: bigint }) => {
    const args = [asset, amount, mode, from] as const;
    return call(from, pool, encodeFunctionData({ abi: aavePoolAbi, functionName: "repay", args }));
  },
  liquidate: (
    from: Address,
    pool: Address,
    { collateral, debt, user, amount }: { collateral: Address; debt: Address; user: Address; amount: bigint },
  ) => {
    const args = [collateral, debt, user, amount, false] as const;
    return call(from, pool, encodeFunctionData({ abi: aavePoolAbi, functionName: "liquidationCall", args }));
  },
  mintToTreasury: (from: Address, pool: Address, assets: readonly Address[]) =>
    call(
      from,
      pool,
      encodeFunctionData({ abi: aavePoolAbi, functionName: "mintToTreasury", args: [assets] }),
    ),
  approve: (from: Address, token: Address, spender: Address) => {
    const args = [spender, 2n ** 256n - 1n] as const;
    return call(from, token, encodeFunctionData({ abi: erc20Abi, functionName: "approve", args }));
  },
  /** Gives tokens out of nothing: ether is wrapped, others are minted. */
  fund: (from: Address, { address, form }: DeployedToken, amount: bigint): Transaction => {
    if (form === "wrapped") {
      const data = encodeFunctionData({ abi: erc20Abi, functionName: "deposit" });
      return { ...call(from, address, data), value: toHex(amount) };
    }
    const args = [from, amount] as const;
    return call(from, address, encodeFunctionData({ abi: erc20Abi, functionName: "mint", args }));
  },
  /** `usd` of one whole token. */
  setPrice: (from: Address, feed: Address, usd: number) => {
    const args = [BigInt(Math.round(usd * 1e8))] as const;
    return call(from, feed, encodeFunctionData({ abi: priceFeed.abi, functionName: "setAnswer", args }));
  },
  /** A function of PoolConfigurator. */
  configure: (
    owner: Address,
    configurator: Address,
    { functionName, args }: { functionName: ConfiguratorFunction; args: readonly unknown[] },
  ) =>
    call(
      owner,
      configurator,
      // Its arguments are checked when it is encoded: their types would need one signature a function.
      encodeFunctionData({ abi: aaveConfiguratorAbi, functionName, args } as Parameters<
        typeof encodeFunctionData
      >[0]),
    ),
} as const;

export type ConfiguratorFunction = Extract<
  (typeof aaveConfiguratorAbi)[number],
  { type: "function" }
>["name"];
