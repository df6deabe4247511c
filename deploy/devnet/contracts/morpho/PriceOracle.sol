// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// What a Morpho market asks for the worth of one raw unit of its collateral in raw units of its loan token, times 1e36.
/// Anybody may change it.
contract PriceOracle {
    uint256 public price;

    constructor(uint256 price_) {
        price = price_;
    }

    function setPrice(uint256 price_) external {
        price = price_;
    }
}
