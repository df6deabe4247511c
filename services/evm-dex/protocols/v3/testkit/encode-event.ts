import fc from "fast-check";
import { encodeAbiParameters, encodeEventTopics, parseAbi } from "viem";
import type { Hex } from "../../../../shared/evm/port.ts";

/** The events as the genuine contracts declare them, and random arguments for them: viem writes the logs. */
const common = [
  "event Initialize(uint160 sqrtPriceX96, int24 tick)",
  "event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)",
  "event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)",
  "event Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount0, uint128 amount1)",
  "event Flash(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1, uint256 paid0, uint256 paid1)",
] as const;
const swap =
  "event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)";
const collectProtocol =
  "event CollectProtocol(address indexed sender, address indexed recipient, uint128 amount0, uint128 amount1)";

export const uniswapAbi = parseAbi([
  ...common,
  swap,
  collectProtocol,
  "event SetFeeProtocol(uint8 feeProtocol0Old, uint8 feeProtocol1Old, uint8 feeProtocol0New, uint8 feeProtocol1New)",
]);
/** PancakeV3Pool of pancake-v3-contracts. */
export const pancakeAbi = parseAbi([
  ...common,
  "event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint128 protocolFeesToken0, uint128 protocolFeesToken1)",
  collectProtocol,
]);
/** CLPool of slipstream. */
export const slipstreamAbi = parseAbi([
  ...common,
  swap,
  "event CollectFees(address indexed recipient, uint128 amount0, uint128 amount1)",
]);
export const uniswapFactoryAbi = parseAbi([
  "event PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool)",
]);
export const slipstreamFactoryAbi = parseAbi([
  "event PoolCreated(address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool)",
]);

export type EventAbi = (
  | typeof uniswapAbi
  | typeof pancakeAbi
  | typeof slipstreamAbi
  | typeof uniswapFactoryAbi
  | typeof slipstreamFactoryAbi
)[number];

/** Any value of an integer or address type; both ends and zero often. */
function anyOf(type: string): fc.Arbitrary<unknown> {
  if (type === "address")
    return fc
      .bigInt({ min: 0n, max: 2n ** 160n - 1n })
      .map((n): Hex => `0x${n.toString(16).padStart(40, "0")}`);
  const bits = BigInt(type.replace(/^u?int/, ""));
  const [min, max] = type.startsWith("u")
    ? [0n, 2n ** bits - 1n]
    : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
  const value = fc.oneof(fc.bigInt({ min, max }), fc.constantFrom(0n, 1n, min, max));
  // viem takes small integers as numbers.
  return bits <= 48n ? value.map(Number) : value;
}

export function anyArgs(event: EventAbi): fc.Arbitrary<Record<string, unknown>> {
  return fc.record(Object.fromEntries(event.inputs.map(({ name, type }) => [name, anyOf(type)])));
}

/** The log that a contract would emit, by viem. */
export function encodeLog(event: EventAbi, args: Record<string, unknown>): { topics: Hex[]; data: Hex } {
  const topics = encodeEventTopics({ abi: [event], eventName: event.name, args } as never) as Hex[];
  const inData = event.inputs.filter((input) => !("indexed" in input && input.indexed));
  const data = encodeAbiParameters(
    inData,
    inData.map(({ name }) => args[name]),
  );
  return { topics, data };
}
