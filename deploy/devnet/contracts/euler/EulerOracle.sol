// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

interface IShares {
    function asset() external view returns (address);
    function convertToAssets(uint256 shares) external view returns (uint256);
}

/// Prices that anybody may set, and vault shares at what they are worth, behind the interface of Euler's price oracles.
contract EulerOracle {
    /// Raw units of the quote for 10^18 raw units of the base; 0 = none.
    mapping(address => mapping(address => uint256)) public prices;
    /// Vaults whose shares are converted to their asset first.
    mapping(address => bool) public resolves;

    function setPrice(address base, address quote, uint256 price) external {
        prices[base][quote] = price;
    }

    function setResolved(address vault, bool resolved) external {
        resolves[vault] = resolved;
    }

    function getQuote(uint256 inAmount, address base, address quote) external view returns (uint256) {
        uint256 amount = inAmount;
        address token = base;
        if (resolves[base]) {
            amount = IShares(base).convertToAssets(inAmount);
            token = IShares(base).asset();
        }
        if (token == quote) return amount;
        uint256 price = prices[token][quote];
        require(price != 0, "PriceOracle_NotSupported");
        return amount * price / 1e18;
    }
}
