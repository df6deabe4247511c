// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// A price in USD with 8 decimals, as AaveOracle asks Chainlink for it. Anybody may set it.
contract PriceFeed {
    uint8 public constant decimals = 8;
    int256 public latestAnswer;

    constructor(int256 answer) {
        latestAnswer = answer;
    }

    function setAnswer(int256 answer) external {
        latestAnswer = answer;
    }
}
