// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {Cloner} from "../Cloner.sol";

interface IComponent {
    function initialize(address creator, bytes calldata metadata) external;
}

/// Makes vaults with the events and getters of Euler's GenericFactory. Each is an EIP-1167 clone, at an address that
/// follows from its place in the list.
contract EulerVaultFactory is Cloner {
    address public upgradeAdmin;
    address public implementation;
    address[] public proxyList;
    mapping(address => bool) public isProxy;

    event Genesis();
    event ProxyCreated(address indexed proxy, bool upgradeable, address implementation, bytes trailingData);
    event SetImplementation(address indexed newImplementation);
    event SetUpgradeAdmin(address indexed newUpgradeAdmin);

    constructor(address implementation_) {
        emit Genesis();
        upgradeAdmin = msg.sender;
        emit SetUpgradeAdmin(msg.sender);
        implementation = implementation_;
        emit SetImplementation(implementation_);
    }

    /// Of the next proxies: those that are there keep theirs.
    function setImplementation(address newImplementation) external {
        require(msg.sender == upgradeAdmin, "E_Unauthorized");
        implementation = newImplementation;
        emit SetImplementation(newImplementation);
    }

    function createProxy(address desired, bool upgradeable, bytes calldata trailingData) external returns (address proxy) {
        require(desired == address(0) || desired == implementation, "E_Implementation");
        proxy = _clone(implementation, bytes32(proxyList.length));
        proxyList.push(proxy);
        isProxy[proxy] = true;
        IComponent(proxy).initialize(msg.sender, trailingData);
        emit ProxyCreated(proxy, upgradeable, implementation, trailingData);
    }

    function getProxyListLength() external view returns (uint256) {
        return proxyList.length;
    }

    /// From `start` up to `end`, which is not in it; the largest number stands for all.
    function getProxyListSlice(uint256 start, uint256 end) external view returns (address[] memory list) {
        if (end == type(uint256).max) end = proxyList.length;
        require(end >= start && end <= proxyList.length, "E_BadQuery");
        list = new address[](end - start);
        for (uint256 i; i < list.length; ++i) list[i] = proxyList[start + i];
    }
}
