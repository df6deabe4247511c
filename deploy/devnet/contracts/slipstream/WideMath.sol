// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// Products of up to 512 bits.
library WideMath {
    /// floor(a * b / d). Reverts where that does not fit, or d is 0.
    function mulDiv(uint256 a, uint256 b, uint256 d) internal pure returns (uint256) {
        unchecked {
            (uint256 high, uint256 low) = _product(a, b);
            require(high < d, "overflow");
            if (high == 0) return low / d;
            // Make the division exact, then both odd, then multiply by d's inverse modulo 2^256.
            uint256 rest = mulmod(a, b, d);
            if (rest > low) high--;
            low -= rest;
            uint256 even = d & (~d + 1);
            d /= even;
            low = low / even + high * (even == 1 ? 0 : (~even + 1) / even + 1);
            // The inverse of d modulo 8 is d itself; every step doubles the right bits: 3, 6, 12, … 384.
            uint256 inverse = d;
            for (uint256 i = 0; i < 7; i++) inverse *= 2 - d * inverse;
            return low * inverse;
        }
    }

    /// ceil(a * b / d)
    function mulDivUp(uint256 a, uint256 b, uint256 d) internal pure returns (uint256) {
        uint256 floor = mulDiv(a, b, d);
        return mulmod(a, b, d) > 0 ? floor + 1 : floor;
    }

    function divUp(uint256 a, uint256 d) internal pure returns (uint256) {
        return a / d + (a % d > 0 ? 1 : 0);
    }

    function _product(uint256 a, uint256 b) private pure returns (uint256 high, uint256 low) {
        unchecked {
            uint256 modulo = mulmod(a, b, type(uint256).max);
            low = a * b;
            high = modulo - low - (modulo < low ? 1 : 0);
        }
    }
}
