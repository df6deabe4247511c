import {
  CallExecutionError,
  ContractFunctionExecutionError,
  encodeFunctionData,
  type PublicClient,
} from "viem";
import {
  aaveDataProviderAbi,
  aaveOracleAbi,
  aavePoolAbi,
  aaveProviderAbi,
  erc20Abi,
} from "../contracts/aave/abi.ts";
import type { Address } from "../node/transactions.ts";
import type { AaveDeployment } from "./deploy.ts";

/** A reserve by the protocol's own views: its data provider, its tokens, its oracle. */
export interface AaveReserveView {
  readonly symbol: string;
  readonly name: string;
  readonly underlyingSymbol: string;
  readonly decimals: number;
  /** Raw: supply is the aToken's totalSupply, liquidity what the aToken holds. */
  readonly supply: bigint;
  readonly stableDebt: bigint;
  readonly variableDebt: bigint;
  readonly liquidity: bigint;
  /** Rays a year. */
  readonly liquidityRate: bigint;
  readonly variableBorrowRate: bigint;
  /** Whole tokens, 0 = none. */
  readonly supplyCap: bigint;
  readonly borrowCap: bigint;
  /** Hundredths of a percent. */
  readonly ltv: bigint;
  readonly canBeCollateral: boolean;
  readonly isBorrowingEnabled: boolean;
  readonly isActive: boolean;
  readonly isFrozen: boolean;
  readonly isPaused: boolean;
  /** What the market's oracle says now: a whole token in units of its base currency; null where it reverts. */
  readonly price: { readonly raw: bigint; readonly unit: bigint; readonly inUsd: boolean } | null;
}

/** Truth about the market by viem alone, at a block or the head. */
export interface AaveReader {
  /** Tokens of all reserves, in the Pool's order. */
  assets(block?: number): Promise<Address[]>;
  view(asset: Address, block?: number): Promise<AaveReserveView>;
  /** Whether a supply of one raw token would go through, at the head. */
  acceptsSupply(asset: Address): Promise<boolean>;
}

export function createAaveReader(client: PublicClient, deployment: AaveDeployment): AaveReader {
  const { pool, provider, dataProvider, users } = deployment;
  const at = (block?: number) => (block === undefined ? {} : { blockNumber: BigInt(block) });

  async function readPrice(asset: Address, block?: number): Promise<AaveReserveView["price"]> {
    const names = { address: provider, abi: aaveProviderAbi, ...at(block) } as const;
    const address = await client.readContract({ ...names, functionName: "getPriceOracle" });
    const oracle = { address, abi: aaveOracleAbi, ...at(block) } as const;
    try {
      const [raw, unit, currency] = await Promise.all([
        client.readContract({ ...oracle, functionName: "getAssetPrice", args: [asset] }),
        client.readContract({ ...oracle, functionName: "BASE_CURRENCY_UNIT" }),
        client.readContract({ ...oracle, functionName: "BASE_CURRENCY" }),
      ]);
      return { raw, unit, inUsd: BigInt(currency) === 0n };
    } catch (error) {
      if (error instanceof ContractFunctionExecutionError) return null;
      throw error;
    }
  }

  return {
    async assets(block) {
      const read = {
        address: pool,
        abi: aavePoolAbi,
        functionName: "getReservesList",
        ...at(block),
      } as const;
      return (await client.readContract(read)).map((asset) => asset.toLowerCase() as Address);
    },
    async view(asset, block) {
      const provider = { address: dataProvider, abi: aaveDataProviderAbi, ...at(block) } as const;
      const erc20 = { abi: erc20Abi, ...at(block) } as const;
      const args = [asset] as const;
      const [aToken] = await client.readContract({
        ...provider,
        functionName: "getReserveTokensAddresses",
        args,
      });
      const [data, configuration, caps, isPaused, price, symbol, name, underlyingSymbol, liquidity] =
        await Promise.all([
          client.readContract({ ...provider, functionName: "getReserveData", args }),
          client.readContract({ ...provider, functionName: "getReserveConfigurationData", args }),
          client.readContract({ ...provider, functionName: "getReserveCaps", args }),
          client.readContract({ ...provider, functionName: "getPaused", args }),
          readPrice(asset, block),
          client.readContract({ ...erc20, address: aToken, functionName: "symbol" }),
          client.readContract({ ...erc20, address: aToken, functionName: "name" }),
          client.readContract({ ...erc20, address: asset, functionName: "symbol" }),
          client.readContract({ ...erc20, address: asset, functionName: "balanceOf", args: [aToken] }),
        ]);
      const [, , supply, stableDebt, variableDebt, liquidityRate, variableBorrowRate] = data;
      const [decimals, ltv, , , , canBeCollateral, isBorrowingEnabled, , isActive, isFrozen] = configuration;
      const [borrowCap, supplyCap] = caps;
      return {
        symbol,
        name,
        underlyingSymbol,
        decimals: Number(decimals),
        ...{ supply, stableDebt, variableDebt, liquidity, liquidityRate, variableBorrowRate },
        ...{ supplyCap, borrowCap, ltv, canBeCollateral },
        ...{ isBorrowingEnabled, isActive, isFrozen, isPaused, price },
      };
    },
    async acceptsSupply(asset) {
      const [account] = users as [Address];
      const args = [asset, 1n, account, 0] as const;
      const data = encodeFunctionData({ abi: aavePoolAbi, functionName: "supply", args });
      try {
        await client.call({ account, to: pool, data });
        return true;
      } catch (error) {
        if (error instanceof CallExecutionError) return false;
        throw error;
      }
    },
  };
}
