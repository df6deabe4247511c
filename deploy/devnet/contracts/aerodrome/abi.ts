import { encodePacked, getContractAddress, type Hex, keccak256, parseAbi } from "viem";
import { cloneCodeHash } from "../clone.ts";

/** The public interface of Aerodrome v2 (https://github.com/aerodrome-finance/contracts), as far as the devnet has it. */
export const aerodromeFactoryAbi = parseAbi([
  "event PoolCreated(address indexed token0, address indexed token1, bool indexed stable, address pool, uint256 count)",
  "event SetCustomFee(address indexed pool, uint256 fee)",
  "function createPool(address tokenA, address tokenB, bool stable) returns (address)",
  "function getPool(address tokenA, address tokenB, bool stable) view returns (address)",
  "function isPool(address pool) view returns (bool)",
  "function getFee(address pool, bool stable) view returns (uint256)",
  "function setFee(bool stable, uint256 fee)",
  "function setCustomFee(address pool, uint256 fee)",
  "function allPoolsLength() view returns (uint256)",
]);

export const aerodromePoolAbi = parseAbi([
  "event Fees(address indexed sender, uint256 amount0, uint256 amount1)",
  "event Mint(address indexed sender, uint256 amount0, uint256 amount1)",
  "event Burn(address indexed sender, address indexed to, uint256 amount0, uint256 amount1)",
  "event Swap(address indexed sender, address indexed to, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out)",
  "event Sync(uint256 reserve0, uint256 reserve1)",
  "event Claim(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "function metadata() view returns (uint256 dec0, uint256 dec1, uint256 r0, uint256 r1, bool st, address t0, address t1)",
  "function getReserves() view returns (uint256 reserve0, uint256 reserve1, uint256 blockTimestampLast)",
  "function getAmountOut(uint256 amountIn, address tokenIn) view returns (uint256)",
  "function token0() view returns (address)",
  "function token1() view returns (address)",
  "function stable() view returns (bool)",
  "function symbol() view returns (string)",
  "function poolFees() view returns (address)",
  "function index0() view returns (uint256)",
  "function index1() view returns (uint256)",
  "function claimable0(address owner) view returns (uint256)",
  "function claimable1(address owner) view returns (uint256)",
  "function totalSupply() view returns (uint256)",
  "function balanceOf(address owner) view returns (uint256)",
  "function allowance(address owner, address spender) view returns (uint256)",
  "function approve(address spender, uint256 value) returns (bool)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function claimFees() returns (uint256 claimed0, uint256 claimed1)",
  "function sync()",
]);

export const aerodromeGaugeAbi = parseAbi([
  "event Deposit(address indexed from, address indexed to, uint256 amount)",
  "event Withdraw(address indexed from, uint256 amount)",
  "event NotifyReward(address indexed from, uint256 amount)",
  "event ClaimFees(address indexed from, uint256 claimed0, uint256 claimed1)",
  "event ClaimRewards(address indexed from, uint256 amount)",
  "function deposit(uint256 amount, address recipient)",
  "function withdraw(uint256 amount)",
  "function getReward(address account)",
  "function notifyRewardWithoutClaim(uint256 amount)",
  "function rewardRate() view returns (uint256)",
  "function periodFinish() view returns (uint256)",
  "function totalSupply() view returns (uint256)",
  "function balanceOf(address account) view returns (uint256)",
  "function earned(address account) view returns (uint256)",
  "function left() view returns (uint256)",
  "function stakingToken() view returns (address)",
  "function rewardToken() view returns (address)",
]);

export const aerodromeVoterAbi = parseAbi([
  "event GaugeCreated(address indexed poolFactory, address indexed votingRewardsFactory, address indexed gaugeFactory, address pool, address bribeVotingReward, address feeVotingReward, address gauge, address creator)",
  "event GaugeKilled(address indexed gauge)",
  "event GaugeRevived(address indexed gauge)",
  "event DistributeReward(address indexed sender, address indexed gauge, uint256 amount)",
  "function createGauge(address poolFactory, address pool) returns (address)",
  "function gauges(address pool) view returns (address)",
  "function isAlive(address gauge) view returns (bool)",
  "function killGauge(address gauge)",
  "function reviveGauge(address gauge)",
  "function distribute(address gauge, uint256 amount)",
]);

export interface AerodromePoolKey {
  readonly tokenA: Hex;
  readonly tokenB: Hex;
  readonly stable: boolean;
}

/** A function from pool key to pool address: CREATE2 of an EIP-1167 clone by the factory. */
export function aerodromePoolAddresses(factory: Hex, implementation: Hex): (key: AerodromePoolKey) => Hex {
  const bytecodeHash = cloneCodeHash(implementation);
  return ({ tokenA, tokenB, stable }) => {
    const [token0, token1] = sortTokens(tokenA, tokenB);
    const salt = keccak256(encodePacked(["address", "address", "bool"], [token0, token1, stable]));
    return getContractAddress({ opcode: "CREATE2", from: factory, salt, bytecodeHash }).toLowerCase() as Hex;
  };
}

function sortTokens(tokenA: Hex, tokenB: Hex): [Hex, Hex] {
  return tokenA.toLowerCase() < tokenB.toLowerCase() ? [tokenA, tokenB] : [tokenB, tokenA];
}
