// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// What a scaled token of Aave tells of itself.
contract ScaledToken {
    string public name;
    string public symbol;
    uint256 public scaledTotalSupply;

    constructor(string memory name_, uint256 supply) {
        name = name_;
        symbol = name_;
        scaledTotalSupply = supply;
    }

    function setScaledTotalSupply(uint256 supply) external {
        scaledTotalSupply = supply;
    }
}
