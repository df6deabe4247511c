// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {Payer} from "./Payer.sol";

interface IPool {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function swap(address to, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data) external returns (int256, int256);
    function mint(address owner, int24 lower, int24 upper, uint128 liquidity, bytes calldata data) external returns (uint256, uint256);
    function burn(int24 lower, int24 upper, uint128 liquidity) external returns (uint256, uint256);
    function collect(address to, int24 lower, int24 upper, uint128 max0, uint128 max1) external returns (uint128, uint128);
    function flash(address to, uint256 amount0, uint256 amount1, bytes calldata data) external;
}

/// Trades straight on pools of Uniswap v3 and its kin for anybody who asks and pays every callback itself.
contract Desk is Payer {
    // The kinds of Action.
    uint8 private constant SWAP = 0; // amount > 0 exact input, < 0 exact output; limit 0 = none
    uint8 private constant MINT = 1; // amount = liquidity to add to [lower, upper)
    uint8 private constant BURN = 2; // amount = liquidity to remove; 0 settles the fees
    uint8 private constant COLLECT = 3; // everything owed
    uint8 private constant FLASH = 4; // amount of token0, limit of token1

    uint160 private constant MIN_LIMIT = 4295128740;
    uint160 private constant MAX_LIMIT = 1461446703485210103287273052203988822378723970341;

    struct Action {
        uint8 kind;
        address pool;
        bool zeroForOne;
        int24 lower;
        int24 upper;
        int256 amount;
        uint160 limit;
    }

    // Remembered, since the node keeps a trace of every call of every transaction: fewer calls, smaller node.
    mapping(address => address) private token0Of;
    mapping(address => address) private token1Of;

    constructor(address wrappedEther_) payable Payer(wrappedEther_) {}

    /// Runs the actions in order, all or none.
    function run(Action[] calldata actions) external {
        for (uint256 i = 0; i < actions.length; i++) {
            Action calldata a = actions[i];
            IPool pool = IPool(a.pool);
            if (token0Of[a.pool] == address(0)) {
                token0Of[a.pool] = pool.token0();
                token1Of[a.pool] = pool.token1();
            }
            if (a.kind == SWAP) {
                uint160 limit = a.limit != 0 ? a.limit : a.zeroForOne ? MIN_LIMIT : MAX_LIMIT;
                pool.swap(address(this), a.zeroForOne, a.amount, limit, "");
            } else if (a.kind == MINT) {
                pool.mint(address(this), a.lower, a.upper, uint128(uint256(a.amount)), "");
            } else if (a.kind == BURN) {
                pool.burn(a.lower, a.upper, uint128(uint256(a.amount)));
            } else if (a.kind == COLLECT) {
                pool.collect(address(this), a.lower, a.upper, type(uint128).max, type(uint128).max);
            } else if (a.kind == FLASH) {
                pool.flash(address(this), uint256(a.amount), a.limit, abi.encode(uint256(a.amount), uint256(a.limit)));
            } else {
                revert("unknown kind");
            }
        }
    }

    function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes calldata) external {
        _paySwap(amount0, amount1);
    }

    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata) external {
        _payBoth(amount0, amount1);
    }

    function uniswapV3FlashCallback(uint256 fee0, uint256 fee1, bytes calldata data) external {
        _payFlash(fee0, fee1, data);
    }

    function pancakeV3SwapCallback(int256 amount0, int256 amount1, bytes calldata) external {
        _paySwap(amount0, amount1);
    }

    function pancakeV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata) external {
        _payBoth(amount0, amount1);
    }

    function pancakeV3FlashCallback(uint256 fee0, uint256 fee1, bytes calldata data) external {
        _payFlash(fee0, fee1, data);
    }

    function _paySwap(int256 amount0, int256 amount1) private {
        _payBoth(amount0 > 0 ? uint256(amount0) : 0, amount1 > 0 ? uint256(amount1) : 0);
    }

    function _payFlash(uint256 fee0, uint256 fee1, bytes calldata data) private {
        (uint256 amount0, uint256 amount1) = abi.decode(data, (uint256, uint256));
        _payBoth(amount0 + fee0, amount1 + fee1);
    }

    function _payBoth(uint256 amount0, uint256 amount1) private {
        if (amount0 > 0) _pay(token0Of[msg.sender], msg.sender, amount0);
        if (amount1 > 0) _pay(token1Of[msg.sender], msg.sender, amount1);
    }
}
