// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// Makes PancakeSwap v3 pools for their factory: the pool reads its parameters from here while it is created. The pool's
/// own code comes from npm and is kept in a contract that holds nothing else.
contract PancakeDeployer {
    struct Parameters {
        address factory;
        address token0;
        address token1;
        uint24 fee;
        int24 tickSpacing;
    }

    Parameters public parameters;
    address private immutable poolCode;

    constructor(address poolCode_) {
        poolCode = poolCode_;
    }

    function deploy(address factory, address token0, address token1, uint24 fee, int24 tickSpacing) external returns (address pool) {
        parameters = Parameters(factory, token0, token1, fee, tickSpacing);
        bytes memory code = poolCode.code;
        bytes32 salt = keccak256(abi.encode(token0, token1, fee));
        assembly ("memory-safe") {
            // The first byte only keeps the code from being run.
            pool := create2(0, add(code, 33), sub(mload(code), 1), salt)
        }
        require(pool != address(0), "not created");
        delete parameters;
    }
}
