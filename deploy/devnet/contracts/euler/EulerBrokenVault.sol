// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// A vault that can be made but tells nothing: every other call fails.
contract EulerBrokenVault {
    function initialize(address, bytes calldata) external {}

    fallback() external {
        revert("broken");
    }
}
