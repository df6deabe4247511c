// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// Two interest rates that take turns by the clock, whatever is lent. Rates are per second, 27 decimals.
contract EulerCyclicalRateModel {
    uint256 public immutable primaryRate;
    uint256 public immutable secondaryRate;
    uint256 public immutable primaryDuration;
    uint256 public immutable secondaryDuration;
    uint256 public immutable startTimestamp;

    constructor(
        uint256 primaryRate_,
        uint256 secondaryRate_,
        uint256 primaryDuration_,
        uint256 secondaryDuration_,
        uint256 startTimestamp_
    ) {
        require(startTimestamp_ <= block.timestamp, "BadStartTimestamp");
        primaryRate = primaryRate_;
        secondaryRate = secondaryRate_;
        primaryDuration = primaryDuration_;
        secondaryDuration = secondaryDuration_;
        startTimestamp = startTimestamp_;
    }

    function computeInterestRate(address, uint256, uint256) external view returns (uint256) {
        return currentRate();
    }

    function computeInterestRateView(address, uint256, uint256) external view returns (uint256) {
        return currentRate();
    }

    function currentRate() private view returns (uint256) {
        uint256 within = (block.timestamp - startTimestamp) % (primaryDuration + secondaryDuration);
        return within <= primaryDuration ? primaryRate : secondaryRate;
    }
}
