// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

struct MarketParams {
    address loanToken;
    address collateralToken;
    address oracle;
    address irm;
    uint256 lltv;
}

struct Market {
    uint128 totalSupplyAssets;
    uint128 totalSupplyShares;
    uint128 totalBorrowAssets;
    uint128 totalBorrowShares;
    uint128 lastUpdate;
    uint128 fee;
}

interface IMorpho {
    function idToMarketParams(bytes32 id) external view returns (MarketParams memory);
    function market(bytes32 id) external view returns (Market memory);
    function position(bytes32 id, address user) external view returns (uint256 supplyShares, uint128 borrowShares, uint128 collateral);
    function supply(MarketParams memory market, uint256 assets, uint256 shares, address onBehalf, bytes memory data) external returns (uint256, uint256);
    function withdraw(MarketParams memory market, uint256 assets, uint256 shares, address onBehalf, address receiver) external returns (uint256, uint256);
}

interface IRateModel {
    function borrowRateView(MarketParams memory params, Market memory market) external view returns (uint256);
}

interface IAsset {
    function decimals() external view returns (uint8);
    function approve(address spender, uint256 value) external returns (bool);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// A market with interest accrued to now, as Morpho itself would account for it.
library Expected {
    uint256 private constant WAD = 1e18;

    function marketNow(IMorpho morpho, bytes32 id) internal view returns (Market memory now_) {
        MarketParams memory params = morpho.idToMarketParams(id);
        now_ = morpho.market(id);
        uint256 elapsed = block.timestamp - now_.lastUpdate;
        if (elapsed == 0 || now_.totalBorrowAssets == 0 || params.irm == address(0)) return now_;
        uint256 first = IRateModel(params.irm).borrowRateView(params, now_) * elapsed;
        uint256 second = first * first / (2 * WAD);
        uint256 third = second * first / (3 * WAD);
        uint256 interest = now_.totalBorrowAssets * (first + second + third) / WAD;
        now_.totalBorrowAssets += uint128(interest);
        now_.totalSupplyAssets += uint128(interest);
        uint256 feeAssets = interest * now_.fee / WAD;
        now_.totalSupplyShares +=
            uint128(feeAssets * (now_.totalSupplyShares + 1e6) / (now_.totalSupplyAssets - feeAssets + 1));
    }

    function assetsOf(IMorpho morpho, bytes32 id, address owner) internal view returns (uint256) {
        Market memory now_ = marketNow(morpho, id);
        (uint256 shares,,) = morpho.position(id, owner);
        return shares * (now_.totalSupplyAssets + 1) / (now_.totalSupplyShares + 1e6);
    }
}
