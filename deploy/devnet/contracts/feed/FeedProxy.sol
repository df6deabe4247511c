// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {FeedAggregator} from "./FeedAggregator.sol";

/// The getters of Chainlink's proxies, which move from one aggregator to the next without an event.
contract FeedProxy {
    uint16 public phaseId;
    mapping(uint16 => address) public phaseAggregators;

    function setAggregator(address next) external {
        phaseId += 1;
        phaseAggregators[phaseId] = next;
    }

    function aggregator() public view returns (address) {
        return phaseAggregators[phaseId];
    }

    function decimals() external view returns (uint8) {
        return FeedAggregator(aggregator()).decimals();
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return FeedAggregator(aggregator()).latestRoundData();
    }
}
