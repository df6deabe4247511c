// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {Cloner} from "../Cloner.sol";

interface IPoolToSetUp {
    function initialize(address token0, address token1, bool stable) external;
}

/// Makes pools as EIP-1167 clones of one implementation, at addresses that follow from tokens and curve.
contract AerodromeFactory is Cloner {
    uint256 public constant MAX_FEE = 300;
    /// Stands for a custom fee of nothing, since 0 means that there is none.
    uint256 public constant ZERO_FEE_INDICATOR = 420;

    address public immutable implementation;
    address public immutable feeManager;
    bool public isPaused;
    /// Hundredths of a percent.
    uint256 public stableFee = 5;
    uint256 public volatileFee = 30;
    mapping(address => uint256) public customFee;
    mapping(address => bool) public isPool;
    address[] public allPools;
    mapping(address => mapping(address => mapping(bool => address))) private pools;

    event PoolCreated(address indexed token0, address indexed token1, bool indexed stable, address pool, uint256);
    event SetCustomFee(address indexed pool, uint256 fee);
    event SetPauseState(bool indexed state);

    constructor(address implementation_) {
        implementation = implementation_;
        feeManager = msg.sender;
    }

    modifier onlyManager() {
        require(msg.sender == feeManager, "NotFeeManager");
        _;
    }

    function createPool(address tokenA, address tokenB, bool stable) external returns (address pool) {
        require(tokenA != tokenB, "SameAddress");
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        require(token0 != address(0), "ZeroAddress");
        require(pools[token0][token1][stable] == address(0), "PoolAlreadyExists");
        pool = _clone(implementation, keccak256(abi.encodePacked(token0, token1, stable)));
        IPoolToSetUp(pool).initialize(token0, token1, stable);
        pools[token0][token1][stable] = pool;
        pools[token1][token0][stable] = pool;
        isPool[pool] = true;
        allPools.push(pool);
        emit PoolCreated(token0, token1, stable, pool, allPools.length);
    }

    function getPool(address tokenA, address tokenB, bool stable) external view returns (address) {
        return pools[tokenA][tokenB][stable];
    }

    function allPoolsLength() external view returns (uint256) {
        return allPools.length;
    }

    function getFee(address pool, bool stable) external view returns (uint256) {
        uint256 fee = customFee[pool];
        if (fee == ZERO_FEE_INDICATOR) return 0;
        if (fee != 0) return fee;
        return stable ? stableFee : volatileFee;
    }

    /// As on the original, without an event.
    function setFee(bool stable, uint256 fee) external onlyManager {
        require(fee <= MAX_FEE && fee > 0, "FeeInvalid");
        if (stable) stableFee = fee;
        else volatileFee = fee;
    }

    function setCustomFee(address pool, uint256 fee) external onlyManager {
        require(fee <= MAX_FEE || fee == ZERO_FEE_INDICATOR, "FeeTooHigh");
        require(isPool[pool], "InvalidPool");
        customFee[pool] = fee;
        emit SetCustomFee(pool, fee);
    }

    function setPauseState(bool state) external onlyManager {
        isPaused = state;
        emit SetPauseState(state);
    }
}
