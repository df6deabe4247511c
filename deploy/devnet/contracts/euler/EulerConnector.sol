// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

interface ICollateral {
    function seize(address from, address to, uint256 shares) external;
}

/// Knows which vault each account owes to, as the Ethereum Vault Connector does: that one may stop it from taking
/// collateral out, and may take collateral away. Numbers the vaults of each asset, too.
contract EulerConnector {
    mapping(address => address) public controllerOf;
    mapping(string => uint256) private numbers;

    function reserve(string calldata symbol) external returns (uint256) {
        return ++numbers[symbol];
    }

    function enableController(address account, address vault) external {
        require(msg.sender == account, "EVC_NotAuthorized");
        address current = controllerOf[account];
        require(current == address(0) || current == vault, "EVC_ControllerViolation");
        controllerOf[account] = vault;
    }

    function disableController(address account) external {
        require(msg.sender == controllerOf[account], "EVC_NotAuthorized");
        delete controllerOf[account];
    }

    function controlCollateral(address collateral, address from, address to, uint256 shares) external {
        require(msg.sender == controllerOf[from], "EVC_NotAuthorized");
        ICollateral(collateral).seize(from, to, shares);
    }
}
