import { createRequire } from "node:module";
import { encodePacked, getContractAddress, type Hex, keccak256, parseAbi } from "viem";

/** The genuine Uniswap v3 contracts, as published on npm. */
export const factoryAbi = parseAbi([
  "event PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool)",
  "function createPool(address tokenA, address tokenB, uint24 fee) returns (address)",
  "function enableFeeAmount(uint24 fee, int24 tickSpacing)",
  "function getPool(address, address, uint24) view returns (address)",
  "function owner() view returns (address)",
]);

export const poolAbi = parseAbi([
  "event Initialize(uint160 sqrtPriceX96, int24 tick)",
  "event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)",
  "event Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount0, uint128 amount1)",
  "event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)",
  "event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)",
  "event Flash(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1, uint256 paid0, uint256 paid1)",
  "event SetFeeProtocol(uint8 feeProtocol0Old, uint8 feeProtocol1Old, uint8 feeProtocol0New, uint8 feeProtocol1New)",
  "event CollectProtocol(address indexed sender, address indexed recipient, uint128 amount0, uint128 amount1)",
  "function initialize(uint160 sqrtPriceX96)",
  "function setFeeProtocol(uint8 feeProtocol0, uint8 feeProtocol1)",
  "function collectProtocol(address recipient, uint128 amount0, uint128 amount1) returns (uint128, uint128)",
  "function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16 observationIndex, uint16 observationCardinality, uint16 observationCardinalityNext, uint8 feeProtocol, bool unlocked)",
  "function liquidity() view returns (uint128)",
  "function positions(bytes32) view returns (uint128 liquidity, uint256 feeGrowthInside0LastX128, uint256 feeGrowthInside1LastX128, uint128 tokensOwed0, uint128 tokensOwed1)",
  "function token0() view returns (address)",
  "function token1() view returns (address)",
  "function fee() view returns (uint24)",
]);

/** Tick spacing by fee; the three upper ones exist from birth, 100 was enabled by governance on every chain. */
export const TICK_SPACING = { 100: 1, 500: 10, 3000: 60, 10000: 200 } as const;

function readBytecode(contract: string): Hex {
  const path = `@uniswap/v3-core/artifacts/contracts/${contract}.sol/${contract}.json`;
  return (createRequire(import.meta.url)(path) as { bytecode: Hex }).bytecode;
}

export function readFactoryBytecode(): Hex {
  return readBytecode("UniswapV3Factory");
}

export interface PoolKey {
  readonly token0: Hex;
  readonly token1: Hex;
  readonly fee: number;
}

/** A function from pool key to pool address (CREATE2 by the factory), so that a deployment need not wait for receipts. */
export function poolAddresses(factory: Hex): (key: PoolKey) => Hex {
  const bytecodeHash = keccak256(readBytecode("UniswapV3Pool"));
  return ({ token0, token1, fee }) => {
    const padded = [token0, token1].map((token) => token.slice(2).toLowerCase().padStart(64, "0")).join("");
    const salt = keccak256(`0x${padded}${fee.toString(16).padStart(64, "0")}`);
    return getContractAddress({ opcode: "CREATE2", from: factory, salt, bytecodeHash }).toLowerCase() as Hex;
  };
}

/** Key of a position in a pool's `positions`. */
export function positionKey(owner: Hex, tickLower: number, tickUpper: number): Hex {
  return keccak256(encodePacked(["address", "int24", "int24"], [owner, tickLower, tickUpper]));
}
