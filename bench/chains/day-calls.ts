/** eth_call of a synthetic day: tokens, fees of tiers, balances as they were at the pools' creation, and Multicall3. */
import {
  type DayMarket,
  type DayPool,
  type DayToken,
  SLIPSTREAM_FEES,
  usdAt,
  V2_FEE,
} from "../synthetic/day/market.ts";

const MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11";
/** The precompile that returns its input, on every chain. */
const IDENTITY = `0x${"04".padStart(40, "0")}`;
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
      return selector === SELECTORS.getBlockNumber ? uint(block) : aggregate(data, block);
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
    if (selector === SELECTORS.symbol) return text(token.symbol);
    if (selector === SELECTORS.decimals) return uint(token.decimals);
    if (selector !== SELECTORS.balanceOf) return undefined;
    return uint(balanceOf(token, pools.get(`0x${data.slice(-40)}`)));
  }

  function aggregate(data: string, block: number): Hex {
    return encodeResults(readCalls(data).map(({ to, data: inner }) => call(to, inner, block)));
  }

  return (to, data, block) => (to === IDENTITY ? (data as Hex) : call(to, data, block));
}

function balanceOf(token: DayToken, pool: DayPool | undefined): bigint {
  if (pool === undefined || (pool.token0 !== token && pool.token1 !== token)) return 0n;
  return BigInt(Math.round((pool.depthUsd / 2 / usdAt(token, 0)) * 10 ** token.decimals));
}

/**
 * The calls of `aggregate3((address target, bool allowFailure, bytes callData)[])`. By hand, as all here: a general decoder
 * takes as long for the tens of thousands of them as the rest of a run.
 */
function readCalls(data: string): { to: string; data: string }[] {
  const digitsAt = (byte: number) => 10 + 2 * byte;
  // Offsets and lengths are small: the last eight digits of a word are all of it.
  const readSmall = (byte: number) =>
    Number.parseInt(data.slice(digitsAt(byte) + 56, digitsAt(byte) + 64), 16);
  const list = readSmall(0);
  const start = list + 32;
  return Array.from({ length: readSmall(list) }, (_, i) => {
    const tuple = start + readSmall(start + 32 * i);
    const content = tuple + readSmall(tuple + 64);
    const from = digitsAt(content + 32);
    return {
      to: `0x${data.slice(digitsAt(tuple) + 24, digitsAt(tuple) + 64).toLowerCase()}`,
      data: `0x${data.slice(from, from + 2 * readSmall(content))}`,
    };
  });
}

/** `(bool success, bytes returnData)[]`; undefined = it reverted. */
function encodeResults(results: readonly (Hex | undefined)[]): Hex {
  const offsets: string[] = [];
  const tuples: string[] = [];
  let offset = 32 * results.length;
  for (const result of results) {
    const content = bytes((result ?? "0x").slice(2));
    offsets.push(word(offset));
    tuples.push(word(result === undefined ? 0 : 1), word(64), content);
    offset += 64 + content.length / 2;
  }
  return `0x${word(32)}${word(results.length)}${offsets.join("")}${tuples.join("")}`;
}

function text(value: string): Hex {
  return `0x${word(32)}${bytes(Buffer.from(value).toString("hex"))}`;
}

/** Length and padded content. */
function bytes(digits: string): string {
  return word(digits.length / 2) + digits.padEnd(64 * Math.ceil(digits.length / 64), "0");
}

function uint(value: number | bigint): Hex {
  return `0x${word(value)}`;
}

function word(value: number | bigint): string {
  return value.toString(16).padStart(64, "0");
}
