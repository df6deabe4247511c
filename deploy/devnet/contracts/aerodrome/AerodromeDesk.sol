// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {Payer} from "../Payer.sol";

interface IPoolV2 {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256);
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
    function mint(address to) external returns (uint256);
    function burn(address to) external returns (uint256, uint256);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// Trades on Aerodrome v2 pools for anybody who asks and pays what goes in. LP tokens are the caller's own: minted to
/// it, and taken from it (by its approval) to be burnt.
contract AerodromeDesk is Payer {
    constructor(address wrappedEther_) payable Payer(wrappedEther_) {}

    function swap(address pool, bool zeroForOne, uint256 amountIn) external {
        address tokenIn = zeroForOne ? IPoolV2(pool).token0() : IPoolV2(pool).token1();
        uint256 out = IPoolV2(pool).getAmountOut(amountIn, tokenIn);
        _pay(tokenIn, pool, amountIn);
        IPoolV2(pool).swap(zeroForOne ? 0 : out, zeroForOne ? out : 0, address(this), "");
    }

    /// Puts in both tokens and takes out some of one: a swap with fees on both sides.
    function swapBoth(address pool, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out) external {
        _pay(IPoolV2(pool).token0(), pool, amount0In);
        _pay(IPoolV2(pool).token1(), pool, amount1In);
        IPoolV2(pool).swap(amount0Out, amount1Out, address(this), "");
    }

    function addLiquidity(address pool, uint256 amount0, uint256 amount1) external {
        _pay(IPoolV2(pool).token0(), pool, amount0);
        _pay(IPoolV2(pool).token1(), pool, amount1);
        IPoolV2(pool).mint(msg.sender);
    }

    function removeLiquidity(address pool, uint256 liquidity) external {
        require(IPoolV2(pool).transferFrom(msg.sender, pool, liquidity), "transfer refused");
        IPoolV2(pool).burn(msg.sender);
    }
}
