// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {EulerEarnVault} from "./EulerEarnVault.sol";

/// Makes vaults that put their asset into others, with the events and getters of Euler's factory of them.
contract EulerEarnFactory {
    address[] private vaults;
    mapping(address => bool) public isVault;

    event CreateEulerEarn(
        address indexed eulerEarn,
        address indexed caller,
        address initialOwner,
        uint256 initialTimelock,
        address indexed asset,
        string name,
        string symbol,
        bytes32 salt
    );

    function createEulerEarn(
        address initialOwner,
        uint256 initialTimelock,
        address asset,
        string calldata name,
        string calldata symbol,
        bytes32 salt
    ) external returns (address made) {
        made = address(new EulerEarnVault(initialOwner, initialTimelock, asset, name, symbol));
        vaults.push(made);
        isVault[made] = true;
        emit CreateEulerEarn(made, msg.sender, initialOwner, initialTimelock, asset, name, symbol, salt);
    }

    function getVaultListLength() external view returns (uint256) {
        return vaults.length;
    }
}
