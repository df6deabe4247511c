// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// Tells a price with the event and the getters of Chainlink's aggregators.
contract FeedAggregator {
    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    uint8 public constant decimals = 8;
    uint80 public round;
    int256 public answer;
    uint256 public updatedAt;

    function tell(int256 current) external {
        round += 1;
        answer = current;
        updatedAt = block.timestamp;
        emit AnswerUpdated(current, round, block.timestamp);
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        require(round > 0, "No data present");
        return (round, answer, updatedAt, updatedAt, round);
    }
}
