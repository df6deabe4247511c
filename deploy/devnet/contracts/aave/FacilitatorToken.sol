// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// GHO, as far as a market of v3.3 and earlier asks it.
contract FacilitatorToken {
    string public constant name = "Gho Token";
    string public constant symbol = "GHO";
    uint8 public constant decimals = 18;
    uint256 private capacity;
    uint256 private level;

    function setBucket(uint256 capacity_, uint256 level_) external {
        capacity = capacity_;
        level = level_;
    }

    function getFacilitatorBucket(address) external view returns (uint256, uint256) {
        return (capacity, level);
    }

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }
}
