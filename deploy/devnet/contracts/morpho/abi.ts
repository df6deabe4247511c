import { createRequire } from "node:module";
import { encodeAbiParameters, type Hex, keccak256, parseAbi } from "viem";

/** The genuine contracts of Morpho Blue and MetaMorpho v1.0, as published on npm. */
const STRUCTS = [
  "struct MarketParams { address loanToken; address collateralToken; address oracle; address irm; uint256 lltv; }",
  "struct Market { uint128 totalSupplyAssets; uint128 totalSupplyShares; uint128 totalBorrowAssets; uint128 totalBorrowShares; uint128 lastUpdate; uint128 fee; }",
  "struct MarketAllocation { MarketParams marketParams; uint256 assets; }",
] as const;

export const morphoAbi = parseAbi([
  ...STRUCTS,
  "event CreateMarket(bytes32 indexed id, MarketParams marketParams)",
  "event SetFee(bytes32 indexed id, uint256 newFee)",
  "event SetFeeRecipient(address indexed newFeeRecipient)",
  "event Supply(bytes32 indexed id, address indexed caller, address indexed onBehalf, uint256 assets, uint256 shares)",
  "event Withdraw(bytes32 indexed id, address caller, address indexed onBehalf, address indexed receiver, uint256 assets, uint256 shares)",
  "event Borrow(bytes32 indexed id, address caller, address indexed onBehalf, address indexed receiver, uint256 assets, uint256 shares)",
  "event Repay(bytes32 indexed id, address indexed caller, address indexed onBehalf, uint256 assets, uint256 shares)",
  "event SupplyCollateral(bytes32 indexed id, address indexed caller, address indexed onBehalf, uint256 assets)",
  "event WithdrawCollateral(bytes32 indexed id, address caller, address indexed onBehalf, address indexed receiver, uint256 assets)",
  "event Liquidate(bytes32 indexed id, address indexed caller, address indexed borrower, uint256 repaidAssets, uint256 repaidShares, uint256 seizedAssets, uint256 badDebtAssets, uint256 badDebtShares)",
  "event AccrueInterest(bytes32 indexed id, uint256 prevBorrowRate, uint256 interest, uint256 feeShares)",
  "function enableIrm(address irm)",
  "function enableLltv(uint256 lltv)",
  "function setFee(MarketParams marketParams, uint256 newFee)",
  "function setFeeRecipient(address newFeeRecipient)",
  "function createMarket(MarketParams marketParams)",
  "function supply(MarketParams marketParams, uint256 assets, uint256 shares, address onBehalf, bytes data) returns (uint256, uint256)",
  "function withdraw(MarketParams marketParams, uint256 assets, uint256 shares, address onBehalf, address receiver) returns (uint256, uint256)",
  "function borrow(MarketParams marketParams, uint256 assets, uint256 shares, address onBehalf, address receiver) returns (uint256, uint256)",
  "function repay(MarketParams marketParams, uint256 assets, uint256 shares, address onBehalf, bytes data) returns (uint256, uint256)",
  "function supplyCollateral(MarketParams marketParams, uint256 assets, address onBehalf, bytes data)",
  "function withdrawCollateral(MarketParams marketParams, uint256 assets, address onBehalf, address receiver)",
  "function liquidate(MarketParams marketParams, address borrower, uint256 seizedAssets, uint256 repaidShares, bytes data) returns (uint256, uint256)",
  "function accrueInterest(MarketParams marketParams)",
  "function market(bytes32 id) view returns (Market)",
  "function idToMarketParams(bytes32 id) view returns (MarketParams)",
  "function position(bytes32 id, address user) view returns (uint256 supplyShares, uint128 borrowShares, uint128 collateral)",
]);

export const adaptiveCurveIrmAbi = parseAbi([
  ...STRUCTS,
  "function rateAtTarget(bytes32 id) view returns (int256)",
  "function borrowRateView(MarketParams marketParams, Market market) view returns (uint256)",
]);

export const metaMorphoAbi = parseAbi([
  ...STRUCTS,
  "event AccrueInterest(uint256 newTotalAssets, uint256 feeShares)",
  "event UpdateLastTotalAssets(uint256 updatedTotalAssets)",
  "event UpdateLostAssets(uint256 newLostAssets)",
  "event SetName(string name)",
  "event SetSymbol(string symbol)",
  "event SetFee(address indexed caller, uint256 newFee)",
  "event SetFeeRecipient(address indexed newFeeRecipient)",
  "event SetCurator(address indexed newCurator)",
  "event SetGuardian(address indexed caller, address indexed guardian)",
  "event SetTimelock(address indexed caller, uint256 newTimelock)",
  "event SubmitCap(address indexed caller, bytes32 indexed id, uint256 cap)",
  "event SetCap(address indexed caller, bytes32 indexed id, uint256 cap)",
  "event RevokePendingCap(address indexed caller, bytes32 indexed id)",
  "event SubmitMarketRemoval(address indexed caller, bytes32 indexed id)",
  "event RevokePendingMarketRemoval(address indexed caller, bytes32 indexed id)",
  "event SetSupplyQueue(address indexed caller, bytes32[] newSupplyQueue)",
  "event SetWithdrawQueue(address indexed caller, bytes32[] newWithdrawQueue)",
  "event ReallocateSupply(address indexed caller, bytes32 indexed id, uint256 suppliedAssets, uint256 suppliedShares)",
  "event ReallocateWithdraw(address indexed caller, bytes32 indexed id, uint256 withdrawnAssets, uint256 withdrawnShares)",
  "event OwnershipTransferred(address indexed previousOwner, address indexed newOwner)",
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function asset() view returns (address)",
  "function MORPHO() view returns (address)",
  "function DECIMALS_OFFSET() view returns (uint8)",
  "function owner() view returns (address)",
  "function curator() view returns (address)",
  "function guardian() view returns (address)",
  "function feeRecipient() view returns (address)",
  "function fee() view returns (uint96)",
  "function timelock() view returns (uint256)",
  "function totalSupply() view returns (uint256)",
  "function totalAssets() view returns (uint256)",
  "function lastTotalAssets() view returns (uint256)",
  "function convertToAssets(uint256 shares) view returns (uint256)",
  "function maxDeposit(address receiver) view returns (uint256)",
  "function maxWithdraw(address owner) view returns (uint256)",
  "function balanceOf(address account) view returns (uint256)",
  "function supplyQueue(uint256 index) view returns (bytes32)",
  "function supplyQueueLength() view returns (uint256)",
  "function withdrawQueue(uint256 index) view returns (bytes32)",
  "function withdrawQueueLength() view returns (uint256)",
  "function config(bytes32 id) view returns (uint184 cap, bool enabled, uint64 removableAt)",
  "function pendingCap(bytes32 id) view returns (uint192 value, uint64 validAt)",
  "function setCurator(address newCurator)",
  "function setIsAllocator(address newAllocator, bool newIsAllocator)",
  "function setFee(uint256 newFee)",
  "function setFeeRecipient(address newFeeRecipient)",
  "function submitTimelock(uint256 newTimelock)",
  "function submitGuardian(address newGuardian)",
  "function transferOwnership(address newOwner)",
  "function acceptOwnership()",
  "function submitCap(MarketParams marketParams, uint256 newSupplyCap)",
  "function acceptCap(MarketParams marketParams)",
  "function revokePendingCap(bytes32 id)",
  "function submitMarketRemoval(MarketParams marketParams)",
  "function revokePendingMarketRemoval(bytes32 id)",
  "function setSupplyQueue(bytes32[] newSupplyQueue)",
  "function updateWithdrawQueue(uint256[] indexes)",
  "function reallocate(MarketAllocation[] allocations)",
  "function deposit(uint256 assets, address receiver) returns (uint256 shares)",
  "function withdraw(uint256 assets, address receiver, address owner) returns (uint256 shares)",
  "function redeem(uint256 shares, address receiver, address owner) returns (uint256 assets)",
]);

export interface MarketParams {
  readonly loanToken: Hex;
  readonly collateralToken: Hex;
  readonly oracle: Hex;
  readonly irm: Hex;
  readonly lltv: bigint;
}

export function marketIdOf({ loanToken, collateralToken, oracle, irm, lltv }: MarketParams): Hex {
  const types = ["address", "address", "address", "address", "uint256"].map((type) => ({ type }));
  return keccak256(encodeAbiParameters(types, [loanToken, collateralToken, oracle, irm, lltv]));
}

/** Its timelock is at least a day in v1.0, in every vault from its first moment; this is where it is stored. */
export const TIMELOCK_SLOT = 14;

const MODULES = {
  Morpho: "morpho-blue/src/Morpho",
  AdaptiveCurveIrm: "morpho-blue-irm/src/adaptive-curve-irm/AdaptiveCurveIrm",
  MetaMorpho: "metamorpho/src/MetaMorpho",
} as const;

/** A contract's creation code, without the arguments of its constructor. */
export function readMorphoBytecode(contract: keyof typeof MODULES): Hex {
  const path = `@morpho-org/morpho-blue-bundlers/types/factories/lib/${MODULES[contract]}__factory.js`;
  const module = createRequire(import.meta.url)(path) as Record<string, { bytecode: Hex }>;
  const factory = module[`${contract}__factory`];
  if (!factory) throw new Error(`${path} has no ${contract}__factory`);
  return factory.bytecode;
}
