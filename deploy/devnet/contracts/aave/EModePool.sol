// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {ScaledToken} from "./ScaledToken.sol";

/// Provider, Pool and configurator of a market in one, with the getters, events and rules for loans of Aave v3.6, whose
/// genuine contracts no package carries. Amounts stand still: index 1, no interest.
contract EModePool {
    struct Reserve {
        uint256 configuration;
        uint16 id;
        address aToken;
        address debtToken;
        uint128 liquidity;
    }

    struct ReserveDataLegacy {
        uint256 configuration;
        uint128 liquidityIndex;
        uint128 currentLiquidityRate;
        uint128 variableBorrowIndex;
        uint128 currentVariableBorrowRate;
        uint128 currentStableBorrowRate;
        uint40 lastUpdateTimestamp;
        uint16 id;
        address aTokenAddress;
        address stableDebtTokenAddress;
        address variableDebtTokenAddress;
        address interestRateStrategyAddress;
        uint128 accruedToTreasury;
        uint128 unbacked;
        uint128 isolationModeTotalDebt;
    }

    struct CollateralConfig {
        uint16 ltv;
        uint16 liquidationThreshold;
        uint16 liquidationBonus;
    }

    struct EMode {
        CollateralConfig config;
        uint128 collateralBitmap;
        uint128 borrowableBitmap;
        uint128 ltvzeroBitmap;
    }

    uint256 private constant BORROWING = 1 << 58;
    uint256 public immutable POOL_REVISION;
    address[] private assets;
    mapping(address => Reserve) private reserves;
    mapping(uint8 => EMode) private eModes;
    mapping(address => uint8) public userEMode;

    event ReserveInitialized(
        address indexed asset,
        address indexed aToken,
        address stableDebtToken,
        address variableDebtToken,
        address interestRateStrategyAddress
    );
    event ReserveBorrowing(address indexed asset, bool enabled);
    event EModeCategoryAdded(
        uint8 indexed categoryId,
        uint256 ltv,
        uint256 liquidationThreshold,
        uint256 liquidationBonus,
        address oracle,
        string label
    );
    event AssetCollateralInEModeChanged(address indexed asset, uint8 categoryId, bool collateral);
    event AssetBorrowableInEModeChanged(address indexed asset, uint8 categoryId, bool borrowable);
    event AssetLtvzeroInEModeChanged(address indexed asset, uint8 categoryId, bool ltvzero);

    constructor(uint256 revision) {
        POOL_REVISION = revision;
    }

    function getPool() external view returns (address) {
        return address(this);
    }

    function getPoolConfigurator() external view returns (address) {
        return address(this);
    }

    function getReservesList() external view returns (address[] memory) {
        return assets;
    }

    function getReserveData(address asset) external view returns (ReserveDataLegacy memory data) {
        Reserve memory reserve = reserves[asset];
        data.configuration = reserve.configuration;
        data.liquidityIndex = data.variableBorrowIndex = 1e27;
        data.lastUpdateTimestamp = uint40(block.timestamp);
        data.id = reserve.id;
        data.aTokenAddress = reserve.aToken;
        data.variableDebtTokenAddress = reserve.debtToken;
    }

    function getVirtualUnderlyingBalance(address asset) external view returns (uint128) {
        return reserves[asset].liquidity;
    }

    function getEModeCategoryCollateralConfig(uint8 id) external view returns (CollateralConfig memory) {
        return eModes[id].config;
    }

    function getEModeCategoryCollateralBitmap(uint8 id) external view returns (uint128) {
        return eModes[id].collateralBitmap;
    }

    function getEModeCategoryBorrowableBitmap(uint8 id) external view returns (uint128) {
        return eModes[id].borrowableBitmap;
    }

    function getEModeCategoryLtvzeroBitmap(uint8 id) external view returns (uint128) {
        return eModes[id].ltvzeroBitmap;
    }

    function initReserve(address asset, uint256 configuration, uint128 liquidity) external {
        Reserve storage reserve = reserves[asset];
        reserve.configuration = configuration;
        // As on the chain: an id is the place in the Pool's own list, here from the fourth on.
        reserve.id = uint16(assets.length + 3);
        reserve.aToken = address(new ScaledToken("aToken", liquidity));
        reserve.debtToken = address(new ScaledToken("debt", 0));
        reserve.liquidity = liquidity;
        assets.push(asset);
        emit ReserveInitialized(asset, reserve.aToken, address(0), reserve.debtToken, address(0));
    }

    function setReserveBorrowing(address asset, bool enabled) external {
        Reserve storage reserve = reserves[asset];
        reserve.configuration = enabled ? reserve.configuration | BORROWING : reserve.configuration & ~BORROWING;
        emit ReserveBorrowing(asset, enabled);
    }

    function setEModeCategory(uint8 id, uint16 ltv, uint16 threshold, uint16 bonus) external {
        eModes[id].config = CollateralConfig(ltv, threshold, bonus);
        emit EModeCategoryAdded(id, ltv, threshold, bonus, address(0), "");
    }

    function setAssetCollateralInEMode(address asset, uint8 id, bool collateral) external {
        eModes[id].collateralBitmap = _flip(eModes[id].collateralBitmap, asset, collateral);
        emit AssetCollateralInEModeChanged(asset, id, collateral);
    }

    function setAssetBorrowableInEMode(address asset, uint8 id, bool borrowable) external {
        eModes[id].borrowableBitmap = _flip(eModes[id].borrowableBitmap, asset, borrowable);
        emit AssetBorrowableInEModeChanged(asset, id, borrowable);
    }

    function setAssetLtvzeroInEMode(address asset, uint8 id, bool ltvzero) external {
        eModes[id].ltvzeroBitmap = _flip(eModes[id].ltvzeroBitmap, asset, ltvzero);
        emit AssetLtvzeroInEModeChanged(asset, id, ltvzero);
    }

    function setUserEMode(uint8 id) external {
        userEMode[msg.sender] = id;
    }

    /// The rules of v3.6's validateBorrow, without collateral: an efficiency mode decides alone.
    function borrow(address asset, uint256 amount, uint256, uint16, address) external view {
        Reserve memory reserve = reserves[asset];
        require(reserve.configuration & (1 << 56) != 0, "ReserveInactive");
        require(reserve.configuration & (1 << 60) == 0, "ReservePaused");
        require(reserve.configuration & (1 << 57) == 0, "ReserveFrozen");
        uint8 mode = userEMode[msg.sender];
        if (mode != 0) require(eModes[mode].borrowableBitmap & uint128(1 << reserve.id) != 0, "NotBorrowableInEMode");
        else require(reserve.configuration & BORROWING != 0, "BorrowingNotEnabled");
        require(amount <= reserve.liquidity, "InvalidAmount");
    }

    function _flip(uint128 bitmap, address asset, bool on) private view returns (uint128) {
        uint128 bit = uint128(1 << reserves[asset].id);
        return on ? bitmap | bit : bitmap & ~bit;
    }
}
