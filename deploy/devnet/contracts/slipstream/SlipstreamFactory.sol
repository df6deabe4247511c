// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {Cloner} from "../Cloner.sol";
import {SlipstreamGauge} from "./SlipstreamGauge.sol";

interface IPoolToSetUp {
    function initialize(address token0, address token1, int24 tickSpacing, address nft, uint160 sqrtPriceX96) external;
    function setGauge(address gauge) external;
    function tickSpacing() external view returns (int24);
}

/// Makes pools as EIP-1167 clones and rules their fees, which may change at any time without an event.
contract SlipstreamFactory is Cloner {
    address public immutable poolImplementation;
    address public immutable owner;
    /// Whose liquidity can be staked.
    address public immutable nft;
    uint24 public constant defaultUnstakedFee = 100_000;
    mapping(int24 => uint24) public tickSpacingToFee;
    mapping(address => mapping(address => mapping(int24 => address))) public getPool;
    mapping(address => bool) public isPool;
    address[] public allPools;
    mapping(address => address) public gauges;
    mapping(address => uint24) private swapFees;

    event PoolCreated(address indexed token0, address indexed token1, int24 indexed tickSpacing, address pool);
    event TickSpacingEnabled(int24 indexed tickSpacing, uint24 indexed fee);

    constructor(address poolImplementation_, address nft_) {
        (poolImplementation, nft, owner) = (poolImplementation_, nft_, msg.sender);
        enableTickSpacing(1, 100);
        enableTickSpacing(50, 500);
        enableTickSpacing(100, 500);
        enableTickSpacing(200, 3_000);
        enableTickSpacing(2_000, 10_000);
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "NO");
        _;
    }

    function enableTickSpacing(int24 tickSpacing, uint24 fee) public onlyOwner {
        require(fee > 0 && fee <= 100_000 && tickSpacing > 0 && tickSpacing < 16_384 && tickSpacingToFee[tickSpacing] == 0);
        tickSpacingToFee[tickSpacing] = fee;
        emit TickSpacingEnabled(tickSpacing, fee);
    }

    /// As on the original, the pool's Initialize comes before PoolCreated.
    function createPool(address tokenA, address tokenB, int24 tickSpacing, uint160 sqrtPriceX96) external returns (address pool) {
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        require(token0 != address(0) && token0 != token1, "tokens");
        require(tickSpacingToFee[tickSpacing] != 0, "spacing");
        require(getPool[token0][token1][tickSpacing] == address(0), "exists");
        pool = _clone(poolImplementation, keccak256(abi.encode(token0, token1, tickSpacing)));
        IPoolToSetUp(pool).initialize(token0, token1, tickSpacing, nft, sqrtPriceX96);
        getPool[token0][token1][tickSpacing] = pool;
        getPool[token1][token0][tickSpacing] = pool;
        isPool[pool] = true;
        allPools.push(pool);
        emit PoolCreated(token0, token1, tickSpacing, pool);
    }

    function allPoolsLength() external view returns (uint256) {
        return allPools.length;
    }

    /// Stands for the voter's createGauge.
    function createGauge(address pool) external returns (address gauge) {
        require(isPool[pool] && gauges[pool] == address(0), "gauge");
        gauge = address(new SlipstreamGauge(pool));
        gauges[pool] = gauge;
        IPoolToSetUp(pool).setGauge(gauge);
    }

    function getSwapFee(address pool) external view returns (uint24) {
        uint24 fee = swapFees[pool];
        return fee != 0 ? fee : tickSpacingToFee[IPoolToSetUp(pool).tickSpacing()];
    }

    function getUnstakedFee(address pool) external view returns (uint24) {
        return gauges[pool] == address(0) ? 0 : defaultUnstakedFee;
    }

    /// Stands for the fee module; 0 = the tick spacing's fee again.
    function setSwapFee(address pool, uint24 fee) external onlyOwner {
        require(fee <= 100_000, "fee");
        swapFees[pool] = fee;
    }
}
