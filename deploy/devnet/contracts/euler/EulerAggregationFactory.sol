// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {EulerAggregationVault} from "./EulerAggregationVault.sol";

/// Makes the EulerEarn vaults of before August 2025, with the event and getters of Euler's factory of them.
contract EulerAggregationFactory {
    address[] public eulerEarnVaults;

    event DeployEulerEarn(address indexed owner, address eulerEarnVault, address indexed asset);

    function deployEulerEarn(
        address asset,
        string calldata name,
        string calldata symbol,
        uint256 initialCashAllocationPoints,
        uint24 smearingPeriod
    ) external returns (address made) {
        made = address(
            new EulerAggregationVault(msg.sender, asset, name, symbol, initialCashAllocationPoints, smearingPeriod)
        );
        eulerEarnVaults.push(made);
        emit DeployEulerEarn(msg.sender, made, asset);
    }

    function getEulerEarnVaultsListLength() external view returns (uint256) {
        return eulerEarnVaults.length;
    }
}
