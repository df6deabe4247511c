// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {WideMath} from "./WideMath.sol";

/// Ticks, prices and amounts of concentrated liquidity, with the formulas and roundings of the Uniswap v3 whitepaper.
library PriceMath {
    int24 internal constant MAX_TICK = 887272;
    uint160 internal constant MIN_SQRT_PRICE = 4295128739;
    uint160 internal constant MAX_SQRT_PRICE = 1461446703485210103287273052203988822378723970342;
    uint256 private constant Q96 = 2 ** 96;

    /// 1 / sqrt(1.0001) ^ (2 ^ i) for i = 0 to 19, 16 bytes each, as fractions of 2^128.
    bytes private constant ROOTS =
        hex"fffcb933bd6fad37aa2d162d1a594001_fff97272373d413259a46990580e213a_fff2e50f5f656932ef12357cf3c7fdcc"
        hex"ffe5caca7e10e4e61c3624eaa0941cd0_ffcb9843d60f6159c9db58835c926644_ff973b41fa98c081472e6896dfb254c0"
        hex"ff2ea16466c96a3843ec78b326b52861_fe5dee046a99a2a811c461f1969c3053_fcbe86c7900a88aedcffc83b479aa3a4"
        hex"f987a7253ac413176f2b074cf7815e54_f3392b0822b70005940c7a398e4b70f3_e7159475a2c29b7443b29c7fa6e889d9"
        hex"d097f3bdfd2022b8845ad8f792aa5825_a9f746462d870fdf8a65dc1f90e061e5_70d869a156d2a1b890bb3df62baf32f7"
        hex"31be135f97d08fd981231505542fcfa6_09aa508b5b7a84e1c677de54f3e99bc9_005d6af8dedb81196699c329225ee604"
        hex"00002216e584f5fa1ea926041bedfe98_00000000048a170391f7dc42444e8fa2";

    /// sqrt(1.0001 ^ tick) * 2^96, rounded up.
    function sqrtPriceAt(int24 tick) internal pure returns (uint160) {
        uint256 distance = tick < 0 ? uint256(-int256(tick)) : uint256(int256(tick));
        require(distance <= uint256(int256(MAX_TICK)), "T");
        bytes memory roots = ROOTS;
        uint256 ratio = 1 << 128;
        for (uint256 i = 0; distance >> i > 0; i++) {
            if ((distance >> i) & 1 == 0) continue;
            uint256 root;
            assembly ("memory-safe") {
                root := shr(128, mload(add(add(roots, 32), mul(i, 16))))
            }
            ratio = (ratio * root) >> 128;
        }
        if (tick > 0) ratio = type(uint256).max / ratio;
        return uint160(WideMath.divUp(ratio, 1 << 32));
    }

    /// The greatest tick whose price is not above the given one.
    function tickAt(uint160 sqrtPrice) internal pure returns (int24) {
        require(sqrtPrice >= MIN_SQRT_PRICE && sqrtPrice < MAX_SQRT_PRICE, "R");
        (int24 low, int24 high) = (-MAX_TICK, MAX_TICK);
        while (low < high) {
            int24 middle = low + (high - low + 1) / 2;
            if (sqrtPriceAt(middle) <= sqrtPrice) low = middle;
            else high = middle - 1;
        }
        return low;
    }

    /// token0 between two prices.
    function amount0(uint160 a, uint160 b, uint128 liquidity, bool up) internal pure returns (uint256) {
        if (a > b) (a, b) = (b, a);
        uint256 scaled = uint256(liquidity) * Q96;
        return up ? WideMath.divUp(WideMath.mulDivUp(scaled, b - a, b), a) : WideMath.mulDiv(scaled, b - a, b) / a;
    }

    /// token1 between two prices.
    function amount1(uint160 a, uint160 b, uint128 liquidity, bool up) internal pure returns (uint256) {
        uint256 distance = a > b ? a - b : b - a;
        return up ? WideMath.mulDivUp(liquidity, distance, Q96) : WideMath.mulDiv(liquidity, distance, Q96);
    }

    /// The price after `amount` of token0 came in (or went out), rounded up.
    function after0(uint160 price, uint128 liquidity, uint256 amount, bool isAdded) private pure returns (uint160) {
        if (amount == 0) return price;
        uint256 scaled = uint256(liquidity) * Q96;
        unchecked {
            uint256 product = amount * price;
            bool fits = product / amount == price;
            if (!isAdded) {
                require(fits && scaled > product, "not enough");
                return _narrow(WideMath.mulDivUp(scaled, price, scaled - product));
            }
            if (fits && scaled + product >= scaled) return uint160(WideMath.mulDivUp(scaled, price, scaled + product));
        }
        return uint160(WideMath.divUp(scaled, scaled / price + amount));
    }

    /// The price after `amount` of token1 came in (or went out), rounded down.
    function after1(uint160 price, uint128 liquidity, uint256 amount, bool isAdded) private pure returns (uint160) {
        if (isAdded) return _narrow(price + WideMath.mulDiv(amount, Q96, liquidity));
        uint256 moved = WideMath.mulDivUp(amount, Q96, liquidity);
        require(price > moved, "not enough");
        return uint160(price - moved);
    }

    struct Step {
        uint160 price;
        uint256 amountIn;
        uint256 amountOut;
        uint256 fee;
    }

    /// One stretch of a swap over constant liquidity, as far as `target` or until `remaining` (< 0: output) is used up.
    function step(uint160 price, uint160 target, uint128 liquidity, int256 remaining, uint24 feePips) internal pure returns (Step memory made) {
        bool zeroForOne = price >= target;
        bool exactIn = remaining >= 0;
        uint256 wanted = exactIn ? WideMath.mulDiv(uint256(remaining), 1e6 - feePips, 1e6) : uint256(-remaining);
        // Amounts in are rounded up, amounts out down; token0 goes in when the price falls.
        uint256 whole = zeroForOne == exactIn
            ? amount0(price, target, liquidity, exactIn)
            : amount1(price, target, liquidity, exactIn);
        if (wanted >= whole) made.price = target;
        else if (zeroForOne == exactIn) made.price = after0(price, liquidity, wanted, exactIn);
        else made.price = after1(price, liquidity, wanted, exactIn);

        (made.amountIn, made.amountOut) = zeroForOne
            ? (amount0(price, made.price, liquidity, true), amount1(price, made.price, liquidity, false))
            : (amount1(price, made.price, liquidity, true), amount0(price, made.price, liquidity, false));
        if (!exactIn && made.amountOut > wanted) made.amountOut = wanted;
        made.fee = exactIn && made.price != target
            ? uint256(remaining) - made.amountIn
            : WideMath.mulDivUp(made.amountIn, feePips, 1e6 - feePips);
    }

    function _narrow(uint256 price) private pure returns (uint160) {
        require(price <= type(uint160).max, "price overflow");
        return uint160(price);
    }
}
