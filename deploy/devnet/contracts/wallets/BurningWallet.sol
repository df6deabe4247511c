// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// A wallet that accepts every signature and burns gas while it checks one: what a facilitator must not pay for.
contract BurningWallet {
    /// Rounds of some 100 gas.
    uint256 public immutable rounds;
    /// Whether it burns in transactions alone, and is cheap in every simulation.
    bool public immutable hides;

    constructor(uint256 rounds_, bool hides_) {
        rounds = rounds_;
        hides = hides_;
    }

    function isValidSignature(bytes32 digest, bytes calldata) external view returns (bytes4) {
        if (!hides || tx.gasprice > 0) {
            bytes32 burnt = digest;
            for (uint256 i = 0; i < rounds; ++i) burnt = keccak256(abi.encode(burnt));
            require(burnt != bytes32(0));
        }
        return this.isValidSignature.selector;
    }
}
