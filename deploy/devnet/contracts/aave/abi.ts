import { parseAbi } from "viem";

/** The public interface of Aave v3 (@aave/core-v3), as far as the devnet and its tests use it. */
export const aaveProviderAbi = parseAbi([
  "event PoolUpdated(address indexed oldAddress, address indexed newAddress)",
  "event PoolConfiguratorUpdated(address indexed oldAddress, address indexed newAddress)",
  "event PriceOracleUpdated(address indexed oldAddress, address indexed newAddress)",
  "event PriceOracleSentinelUpdated(address indexed oldAddress, address indexed newAddress)",
  "function setPriceOracleSentinel(address sentinel)",
  "event AddressSet(bytes32 indexed id, address indexed oldAddress, address indexed newAddress)",
  "event AddressSetAsProxy(bytes32 indexed id, address indexed proxyAddress, address oldImplementationAddress, address indexed newImplementationAddress)",
  "function getPool() view returns (address)",
  "function getPoolConfigurator() view returns (address)",
  "function getPriceOracle() view returns (address)",
  "function getPoolDataProvider() view returns (address)",
  "function setACLAdmin(address admin)",
  "function setACLManager(address manager)",
  "function setAddress(bytes32 id, address newAddress)",
  "function setPoolImpl(address implementation)",
  "function setPoolConfiguratorImpl(address implementation)",
  "function setPriceOracle(address oracle)",
  "function setPoolDataProvider(address dataProvider)",
]);

export const aaveSentinelAbi = parseAbi(["function isBorrowAllowed() view returns (bool)"]);

/** The mock of a sequencer's feed that the package carries. */
export const aaveSequencerAbi = parseAbi(["function setAnswer(bool isDown, uint256 timestamp)"]);

export const aaveAclAbi = parseAbi([
  "function addPoolAdmin(address admin)",
  "function addEmergencyAdmin(address admin)",
]);

export const aavePoolAbi = parseAbi([
  "event ReserveDataUpdated(address indexed reserve, uint256 liquidityRate, uint256 stableBorrowRate, uint256 variableBorrowRate, uint256 liquidityIndex, uint256 variableBorrowIndex)",
  "event MintedToTreasury(address indexed reserve, uint256 amountMinted)",
  "event LiquidationCall(address indexed collateralAsset, address indexed debtAsset, address indexed user, uint256 debtToCover, uint256 liquidatedCollateralAmount, address liquidator, bool receiveAToken)",
  "event Supply(address indexed reserve, address user, address indexed onBehalfOf, uint256 amount, uint16 indexed referralCode)",
  "event Withdraw(address indexed reserve, address indexed user, address indexed to, uint256 amount)",
  "event Borrow(address indexed reserve, address user, address indexed onBehalfOf, uint256 amount, uint8 interestRateMode, uint256 borrowRate, uint16 indexed referralCode)",
  "event Repay(address indexed reserve, address indexed user, address indexed repayer, uint256 amount, bool useATokens)",
  "function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)",
  "function withdraw(address asset, uint256 amount, address to) returns (uint256)",
  "function borrow(address asset, uint256 amount, uint256 interestRateMode, uint16 referralCode, address onBehalfOf)",
  "function repay(address asset, uint256 amount, uint256 interestRateMode, address onBehalfOf) returns (uint256)",
  "function liquidationCall(address collateralAsset, address debtAsset, address user, uint256 debtToCover, bool receiveAToken)",
  "function mintToTreasury(address[] assets)",
  "function getReservesList() view returns (address[])",
  "function getReserveNormalizedIncome(address asset) view returns (uint256)",
  "function getReserveNormalizedVariableDebt(address asset) view returns (uint256)",
  "function getUserAccountData(address user) view returns (uint256 totalCollateralBase, uint256 totalDebtBase, uint256 availableBorrowsBase, uint256 currentLiquidationThreshold, uint256 ltv, uint256 healthFactor)",
]);

export const aaveConfiguratorAbi = parseAbi([
  "struct InitReserveInput { address aTokenImpl; address stableDebtTokenImpl; address variableDebtTokenImpl; uint8 underlyingAssetDecimals; address interestRateStrategyAddress; address underlyingAsset; address treasury; address incentivesController; string aTokenName; string aTokenSymbol; string variableDebtTokenName; string variableDebtTokenSymbol; string stableDebtTokenName; string stableDebtTokenSymbol; bytes params; }",
  "event ReserveInitialized(address indexed asset, address indexed aToken, address stableDebtToken, address variableDebtToken, address interestRateStrategyAddress)",
  "event ReserveDropped(address indexed asset)",
  "event ReserveBorrowing(address indexed asset, bool enabled)",
  "event CollateralConfigurationChanged(address indexed asset, uint256 ltv, uint256 liquidationThreshold, uint256 liquidationBonus)",
  "event PendingLtvChanged(address indexed asset, uint256 ltv)",
  "event ReserveActive(address indexed asset, bool active)",
  "event ReserveFrozen(address indexed asset, bool frozen)",
  "event ReservePaused(address indexed asset, bool paused)",
  "event ReserveFactorChanged(address indexed asset, uint256 oldReserveFactor, uint256 newReserveFactor)",
  "event BorrowCapChanged(address indexed asset, uint256 oldBorrowCap, uint256 newBorrowCap)",
  "event SupplyCapChanged(address indexed asset, uint256 oldSupplyCap, uint256 newSupplyCap)",
  "event ATokenUpgraded(address indexed asset, address indexed proxy, address indexed implementation)",
  "event StableDebtTokenUpgraded(address indexed asset, address indexed proxy, address indexed implementation)",
  "event VariableDebtTokenUpgraded(address indexed asset, address indexed proxy, address indexed implementation)",
  "event EModeCategoryAdded(uint8 indexed categoryId, uint256 ltv, uint256 liquidationThreshold, uint256 liquidationBonus, address oracle, string label)",
  "event AssetCollateralInEModeChanged(address indexed asset, uint8 categoryId, bool collateral)",
  "event AssetBorrowableInEModeChanged(address indexed asset, uint8 categoryId, bool borrowable)",
  "event AssetLtvzeroInEModeChanged(address indexed asset, uint8 categoryId, bool ltvzero)",
  "function initReserves(InitReserveInput[] input)",
  "function dropReserve(address asset)",
  "function setReserveBorrowing(address asset, bool enabled)",
  "function setReserveStableRateBorrowing(address asset, bool enabled)",
  "function configureReserveAsCollateral(address asset, uint256 ltv, uint256 liquidationThreshold, uint256 liquidationBonus)",
  "function setLiquidationProtocolFee(address asset, uint256 fee)",
  "function setReserveActive(address asset, bool active)",
  "function setReserveFreeze(address asset, bool freeze)",
  "function setReservePause(address asset, bool paused)",
  "function setPoolPause(bool paused)",
  "function setReserveFactor(address asset, uint256 reserveFactor)",
  "function setBorrowCap(address asset, uint256 borrowCap)",
  "function setSupplyCap(address asset, uint256 supplyCap)",
]);

export const aaveOracleAbi = parseAbi([
  "event AssetSourceUpdated(address indexed asset, address indexed source)",
  "event FallbackOracleUpdated(address indexed fallbackOracle)",
  "function BASE_CURRENCY() view returns (address)",
  "function BASE_CURRENCY_UNIT() view returns (uint256)",
  "function getAssetPrice(address asset) view returns (uint256)",
  "function getSourceOfAsset(address asset) view returns (address)",
  "function setAssetSources(address[] assets, address[] sources)",
  "function setFallbackOracle(address fallbackOracle)",
]);

export const aaveDataProviderAbi = parseAbi([
  "struct TokenData { string symbol; address tokenAddress; }",
  "function getAllReservesTokens() view returns (TokenData[])",
  "function getReserveConfigurationData(address asset) view returns (uint256 decimals, uint256 ltv, uint256 liquidationThreshold, uint256 liquidationBonus, uint256 reserveFactor, bool usageAsCollateralEnabled, bool borrowingEnabled, bool stableBorrowRateEnabled, bool isActive, bool isFrozen)",
  "function getReserveCaps(address asset) view returns (uint256 borrowCap, uint256 supplyCap)",
  "function getPaused(address asset) view returns (bool)",
  "function getReserveData(address asset) view returns (uint256 unbacked, uint256 accruedToTreasuryScaled, uint256 totalAToken, uint256 totalStableDebt, uint256 totalVariableDebt, uint256 liquidityRate, uint256 variableBorrowRate, uint256 stableBorrowRate, uint256 averageStableBorrowRate, uint256 liquidityIndex, uint256 variableBorrowIndex, uint40 lastUpdateTimestamp)",
  "function getReserveTokensAddresses(address asset) view returns (address aTokenAddress, address stableDebtTokenAddress, address variableDebtTokenAddress)",
  "function getUserReserveData(address asset, address user) view returns (uint256 currentATokenBalance, uint256 currentStableDebt, uint256 currentVariableDebt, uint256 principalStableDebt, uint256 scaledVariableDebt, uint256 stableBorrowRate, uint256 liquidityRate, uint40 stableRateLastUpdated, bool usageAsCollateralEnabled)",
]);

/** Of the devnet's tokens and of Aave's. */
export const erc20Abi = parseAbi([
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function decimals() view returns (uint8)",
  "function totalSupply() view returns (uint256)",
  "function balanceOf(address owner) view returns (uint256)",
  "function approve(address spender, uint256 value) returns (bool)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function mint(address to, uint256 value)",
  "function deposit() payable",
]);
