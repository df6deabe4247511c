import { createRequire } from "node:module";
import { concat, encodeAbiParameters, getContractAddress, type Hex, keccak256, parseAbi } from "viem";

/** The genuine PancakeSwap v3 contracts, as published on npm; what differs from Uniswap v3's. */
export const pancakePoolAbi = parseAbi([
  "event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint128 protocolFeesToken0, uint128 protocolFeesToken1)",
  "event SetFeeProtocol(uint32 feeProtocol0Old, uint32 feeProtocol1Old, uint32 feeProtocol0New, uint32 feeProtocol1New)",
  "function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16 observationIndex, uint16 observationCardinality, uint16 observationCardinalityNext, uint32 feeProtocol, bool unlocked)",
  "function protocolFees() view returns (uint128 token0, uint128 token1)",
]);

export const pancakeFactoryAbi = parseAbi([
  "event PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool)",
  "function createPool(address tokenA, address tokenB, uint24 fee) returns (address)",
  "function getPool(address, address, uint24) view returns (address)",
  "function setFeeProtocol(address pool, uint32 feeProtocol0, uint32 feeProtocol1)",
  "function collectProtocol(address pool, address recipient, uint128 amount0Requested, uint128 amount1Requested) returns (uint128, uint128)",
]);

export const PANCAKE_TICK_SPACING = { 100: 1, 500: 10, 2500: 50, 10000: 200 } as const;

function readBytecode(contract: string): Hex {
  const path = `@pancakeswap/v3-core/artifacts/contracts/${contract}.sol/${contract}.json`;
  return (createRequire(import.meta.url)(path) as { bytecode: Hex }).bytecode;
}

export function readPancakeFactoryBytecode(): Hex {
  return readBytecode("PancakeV3Factory");
}

/** Creates a contract whose code is the pool's creation code behind a byte that stops: for PancakeDeployer to read. */
export function pancakePoolCodeHolder(): Hex {
  const code = concat(["0x00", readBytecode("PancakeV3Pool")]);
  const length = ((code.length - 2) / 2).toString(16).padStart(4, "0");
  // PUSH2 length, DUP1, PUSH1 10, RETURNDATASIZE, CODECOPY, RETURNDATASIZE, RETURN: its own ten bytes are left out.
  return concat([`0x61${length}80600a3d393df3`, code]);
}

/** A function from pool key to pool address: CREATE2 by the deployer. */
export function pancakePoolAddresses(deployer: Hex): (key: { token0: Hex; token1: Hex; fee: number }) => Hex {
  const bytecodeHash = keccak256(readBytecode("PancakeV3Pool"));
  return ({ token0, token1, fee }) => {
    const types = [{ type: "address" }, { type: "address" }, { type: "uint24" }] as const;
    const salt = keccak256(encodeAbiParameters(types, [token0, token1, fee]));
    return getContractAddress({ opcode: "CREATE2", from: deployer, salt, bytecodeHash }).toLowerCase() as Hex;
  };
}
