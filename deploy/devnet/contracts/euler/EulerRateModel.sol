// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// An interest rate that climbs with utilisation, steeper above a kink. Rates are per second, 27 decimals; utilisation
/// has 18.
contract EulerRateModel {
    uint256 public immutable baseRate;
    /// At the kink.
    uint256 public immutable kinkRate;
    /// At full utilisation.
    uint256 public immutable fullRate;
    uint256 public immutable kink;

    constructor(uint256 baseRate_, uint256 kinkRate_, uint256 fullRate_, uint256 kink_) {
        baseRate = baseRate_;
        kinkRate = kinkRate_;
        fullRate = fullRate_;
        kink = kink_;
    }

    function computeInterestRate(address, uint256 cash, uint256 borrows) external view returns (uint256) {
        uint256 total = cash + borrows;
        uint256 used = total == 0 ? 0 : borrows * 1e18 / total;
        if (used <= kink) return baseRate + (kinkRate - baseRate) * used / kink;
        return kinkRate + (fullRate - kinkRate) * (used - kink) / (1e18 - kink);
    }
}
