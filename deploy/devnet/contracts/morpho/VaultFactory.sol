// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// Makes and announces vaults as the factories of MetaMorpho do, which are not on npm. The vault's code is sent along,
/// so that one contract serves for both versions.
contract VaultFactory {
    address public immutable MORPHO;
    mapping(address => bool) public isMetaMorpho;

    event CreateMetaMorpho(
        address indexed metaMorpho,
        address indexed caller,
        address initialOwner,
        uint256 initialTimelock,
        address indexed asset,
        string name,
        string symbol,
        bytes32 salt
    );

    constructor(address morpho) {
        MORPHO = morpho;
    }

    struct Vault {
        address initialOwner;
        uint256 initialTimelock;
        address asset;
        string name;
        string symbol;
        bytes32 salt;
    }

    function createMetaMorpho(bytes calldata code, Vault calldata vault) external returns (address metaMorpho) {
        bytes memory creation = abi.encodePacked(
            code,
            abi.encode(vault.initialOwner, MORPHO, vault.initialTimelock, vault.asset, vault.name, vault.symbol)
        );
        bytes32 salt = vault.salt;
        assembly ("memory-safe") {
            metaMorpho := create2(0, add(creation, 32), mload(creation), salt)
        }
        require(metaMorpho != address(0), "not created");
        isMetaMorpho[metaMorpho] = true;
        emit CreateMetaMorpho(
            metaMorpho,
            msg.sender,
            vault.initialOwner,
            vault.initialTimelock,
            vault.asset,
            vault.name,
            vault.symbol,
            salt
        );
    }
}
