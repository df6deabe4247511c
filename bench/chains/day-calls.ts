/** eth_call of a synthetic day: tokens, fees of tiers, balances as they were at the pools' creation, and Multicall3. */
import { decodeFunctionData, encodeAbiParameters, encodeFunctionResult, parseAbi } from "viem";
import {
  type DayMarket,
  type DayPool,
  type DayToken,
  SLIPSTREAM_FEES,
  usdAt,
  V2_FEE,
} from "../synthetic/day/market.ts";

const MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11";
const multicall = parseAbi([
  "struct Call3 { address target; bool allowFailure; bytes callData; }",
  "struct Result { bool success; bytes returnData; }",
  "function aggregate3(Call3[] calls) view returns (Result[] results)",
]);

const SELECTORS = {
  getBlockNumber: "0x42cbb15c",
  symbol: "0x95d89b41",
  decimals: "0x313ce567",
  balanceOf: "0x70a08231",
  fee: "0xddca3f43",
  tickSpacingToFee: "0x380dc1c2",
  volatileFee: "0x5084ed03",
  stableFee: "0x40bbd775",
} as const;

type Hex = `0x${string}`;

/** From a call at a block to its return data; undefined = it reverts, "0x" = there is no code. */
export type DayCall = (to: string, data: string, block: number) => Hex | undefined;

export function createDayCalls(market: DayMarket): DayCall {
  const tokens = new Map(market.tokens.map((token) => [token.address, token]));
  const pools = new Map(market.pools.map((pool) => [pool.address, pool]));
  const factories = new Set(market.pools.map(({ factory }) => factory.address as string));

  function call(to: string, data: string, block: number): Hex | undefined {
    const selector = data.slice(0, 10);
    if (to === MULTICALL3)
      return selector === SELECTORS.getBlockNumber ? uint(block) : aggregate(data as Hex, block);
    const token = tokens.get(to);
    if (token !== undefined) return ofToken(token, selector, data);
    const pool = pools.get(to);
    if (pool !== undefined) return selector === SELECTORS.fee ? uint(pool.fee) : undefined;
    if (!factories.has(to)) return "0x";
    if (selector === SELECTORS.tickSpacingToFee)
      return uint(SLIPSTREAM_FEES[Number(`0x${data.slice(10)}`)] ?? 0);
    // In basis points.
    return selector === SELECTORS.volatileFee || selector === SELECTORS.stableFee
      ? uint(V2_FEE / 100)
      : undefined;
  }

  function ofToken(token: DayToken, selector: string, data: string): Hex | undefined {
    if (selector === SELECTORS.symbol) return encodeAbiParameters([{ type: "string" }], [token.symbol]);
    if (selector === SELECTORS.decimals) return uint(token.decimals);
    if (selector !== SELECTORS.balanceOf) return undefined;
    return uint(balanceOf(token, pools.get(`0x${data.slice(-40)}`)));
  }

  function aggregate(data: Hex, block: number): Hex | undefined {
    const { args } = decodeFunctionData({ abi: multicall, data });
    const results = args[0].map(({ target, callData }) => {
      const returnData = call(target.toLowerCase(), callData, block);
      return { success: returnData !== undefined, returnData: returnData ?? "0x" };
    });
    return encodeFunctionResult({ abi: multicall, functionName: "aggregate3", result: results });
  }

  return call;
}

function balanceOf(token: DayToken, pool: DayPool | undefined): bigint {
  if (pool === undefined || (pool.token0 !== token && pool.token1 !== token)) return 0n;
  return BigInt(Math.round((pool.depthUsd / 2 / usdAt(token, 0)) * 10 ** token.decimals));
}

function uint(value: number | bigint): Hex {
  return `0x${value.toString(16).padStart(64, "0")}`;
}
