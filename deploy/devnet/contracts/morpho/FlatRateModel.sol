// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {Market, MarketParams} from "./IMorpho.sol";

/// An interest rate model of Morpho that knows one rate per second (WAD), whatever the market. Anybody may change it.
contract FlatRateModel {
    uint256 private rate;

    constructor(uint256 rate_) {
        rate = rate_;
    }

    function setRate(uint256 rate_) external {
        rate = rate_;
    }

    function borrowRate(MarketParams memory, Market memory) external view returns (uint256) {
        return rate;
    }

    function borrowRateView(MarketParams memory, Market memory) external view returns (uint256) {
        return rate;
    }
}
