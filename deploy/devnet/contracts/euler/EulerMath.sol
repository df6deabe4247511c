// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// The integer arithmetic of the Euler Vault Kit, as its documentation states it.
library EulerMath {
    uint256 internal constant ONE = 1e27;
    /// Debts are kept in 2^-31 of the asset's smallest unit.
    uint256 internal constant DEBT_SHIFT = 31;
    uint256 internal constant MAX_AMOUNT = type(uint112).max;
    uint256 internal constant MAX_DEBT = MAX_AMOUNT << DEBT_SHIFT;
    uint256 internal constant SCALE = 1e4;

    /// base^exponent in 27 decimals, by squaring, each product rounded to the nearest; false where one leaves 256 bits.
    function power(uint256 base, uint256 exponent) internal pure returns (uint256 result, bool fits) {
        unchecked {
            result = exponent & 1 == 1 ? base : ONE;
            for (exponent >>= 1; exponent != 0; exponent >>= 1) {
                if (base >= 1 << 128) return (0, false);
                uint256 square = base * base;
                if (square > type(uint256).max - ONE / 2) return (0, false);
                base = (square + ONE / 2) / ONE;
                if (exponent & 1 == 0) continue;
                (bool ok, uint256 product) = product256(result, base);
                if (!ok || product > type(uint256).max - ONE / 2) return (0, false);
                result = (product + ONE / 2) / ONE;
            }
            return (result, true);
        }
    }

    function product256(uint256 a, uint256 b) internal pure returns (bool fits, uint256 product) {
        unchecked {
            product = a * b;
            return (a == 0 || product / a == b, product);
        }
    }

    /// Internal debt in the asset's unit, rounded up.
    function debtUp(uint256 debt) internal pure returns (uint256) {
        return (debt + (1 << DEBT_SHIFT) - 1) >> DEBT_SHIFT;
    }

    /// An AmountCap: 6 bits of exponent, 10 bits of mantissa in hundredths; 0 = none.
    function cap(uint16 raw) internal pure returns (uint256) {
        return raw == 0 ? type(uint256).max : 10 ** (raw & 63) * (raw >> 6) / 100;
    }
}
