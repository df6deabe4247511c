// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// Makes EIP-1167 clones.
abstract contract Cloner {
    function _clone(address implementation, bytes32 salt) internal returns (address made) {
        bytes memory code = abi.encodePacked(
            hex"3d602d80600a3d3981f3363d3d373d3d3d363d73",
            implementation,
            hex"5af43d82803e903d91602b57fd5bf3"
        );
        assembly ("memory-safe") {
            made := create2(0, add(code, 32), mload(code), salt)
        }
        require(made != address(0), "not created");
    }
}
