// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// An interest rate that climbs with utilisation in a line, and above a kink ever steeper up to a cutoff. Rates are per
/// second, 27 decimals; utilisation is of 2^32 - 1.
contract EulerKinkyRateModel {
    uint256 public immutable baseRate;
    uint256 public immutable slope;
    uint256 public immutable shape;
    uint256 public immutable kink;
    uint256 public immutable cutoff;

    constructor(uint256 baseRate_, uint256 slope_, uint256 shape_, uint32 kink_, uint256 cutoff_) {
        baseRate = baseRate_;
        slope = slope_;
        shape = shape_;
        kink = kink_;
        cutoff = cutoff_;
    }

    function computeInterestRate(address, uint256 cash, uint256 borrows) external view returns (uint256) {
        return rateOf(cash, borrows);
    }

    function computeInterestRateView(address, uint256 cash, uint256 borrows) external view returns (uint256) {
        return rateOf(cash, borrows);
    }

    function rateOf(uint256 cash, uint256 borrows) private view returns (uint256 rate) {
        uint256 full = type(uint32).max;
        uint256 used = cash + borrows == 0 ? 0 : borrows * full / (cash + borrows);
        if (used == full) return cutoff;
        if (used <= kink) rate = baseRate + used * slope;
        else {
            uint256 above = slope * (used - kink);
            rate = baseRate + kink * slope + above * (full - kink) * (1 + shape) / (full - used) - above * shape;
        }
        if (rate > cutoff) return cutoff;
    }
}
