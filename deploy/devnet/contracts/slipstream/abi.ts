import { encodeAbiParameters, getContractAddress, type Hex, keccak256, parseAbi } from "viem";
import { cloneCodeHash } from "../clone.ts";

/** The public interface of Aerodrome Slipstream (https://github.com/aerodrome-finance/slipstream), as far as the devnet has it. */
export const slipstreamFactoryAbi = parseAbi([
  "event PoolCreated(address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool)",
  "event TickSpacingEnabled(int24 indexed tickSpacing, uint24 indexed fee)",
  "function createPool(address tokenA, address tokenB, int24 tickSpacing, uint160 sqrtPriceX96) returns (address)",
  "function createGauge(address pool) returns (address)",
  "function getPool(address, address, int24) view returns (address)",
  "function isPool(address pool) view returns (bool)",
  "function gauges(address pool) view returns (address)",
  "function getSwapFee(address pool) view returns (uint24)",
  "function getUnstakedFee(address pool) view returns (uint24)",
  "function setSwapFee(address pool, uint24 fee)",
]);

export const slipstreamPoolAbi = parseAbi([
  "event Initialize(uint160 sqrtPriceX96, int24 tick)",
  "event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)",
  "event Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount0, uint128 amount1)",
  "event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)",
  "event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)",
  "event Flash(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1, uint256 paid0, uint256 paid1)",
  "event CollectFees(address indexed recipient, uint128 amount0, uint128 amount1)",
  "function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16 observationIndex, uint16 observationCardinality, uint16 observationCardinalityNext, bool unlocked)",
  "function fee() view returns (uint24)",
  "function unstakedFee() view returns (uint24)",
  "function tickSpacing() view returns (int24)",
  "function liquidity() view returns (uint128)",
  "function stakedLiquidity() view returns (uint128)",
  "function gauge() view returns (address)",
  "function gaugeFees() view returns (uint128 token0, uint128 token1)",
  "function token0() view returns (address)",
  "function token1() view returns (address)",
  "function feeGrowthGlobal0X128() view returns (uint256)",
  "function feeGrowthGlobal1X128() view returns (uint256)",
  "function positions(bytes32) view returns (uint128 liquidity, uint256 feeGrowthInside0LastX128, uint256 feeGrowthInside1LastX128, uint128 tokensOwed0, uint128 tokensOwed1)",
]);

export const slipstreamGaugeAbi = parseAbi([
  "event Deposit(address indexed user, uint256 indexed tokenId, uint128 indexed liquidityToStake)",
  "event Withdraw(address indexed user, uint256 indexed tokenId, uint128 indexed liquidityToStake)",
  "event ClaimFees(address indexed from, uint256 claimed0, uint256 claimed1)",
  "function deposit(int24 lower, int24 upper, uint128 liquidity) returns (uint256)",
  "function withdraw(uint256 tokenId)",
  "function claimFees()",
]);

/** A function from pool key to pool address: CREATE2 of an EIP-1167 clone by the factory. */
export function slipstreamPoolAddresses(
  factory: Hex,
  implementation: Hex,
): (key: { token0: Hex; token1: Hex; tickSpacing: number }) => Hex {
  const bytecodeHash = cloneCodeHash(implementation);
  return ({ token0, token1, tickSpacing }) => {
    const types = [{ type: "address" }, { type: "address" }, { type: "int24" }] as const;
    const salt = keccak256(encodeAbiParameters(types, [token0, token1, tickSpacing]));
    return getContractAddress({ opcode: "CREATE2", from: factory, salt, bytecodeHash }).toLowerCase() as Hex;
  };
}
