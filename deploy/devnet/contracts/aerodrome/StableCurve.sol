// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// x3y + y3x = k on amounts scaled to 18 decimals, with Solidly's rounding.
library StableCurve {
    uint256 private constant ONE = 1e18;

    function invariant(uint256 x, uint256 y) internal pure returns (uint256) {
        return (((x * y) / ONE) * ((x * x) / ONE + (y * y) / ONE)) / ONE;
    }

    /// Derivative of the invariant by y.
    function slope(uint256 x, uint256 y) internal pure returns (uint256) {
        return (3 * x * ((y * y) / ONE)) / ONE + (((x * x) / ONE) * x) / ONE;
    }

    /// The y that keeps the invariant at `k` for a given x, by Newton's method from `y`, rounded up.
    /// The step from below ends as Aerodrome's: it compares an invariant scaled by the tokens' units a second time,
    /// so that a token with fewer than 18 decimals is given y + 1 without another look.
    function solve(uint256 x, uint256 k, uint256 y, uint256 unit0, uint256 unit1) internal pure returns (uint256) {
        for (uint256 i = 0; i < 255; i++) {
            uint256 reached = invariant(x, y);
            bool below = reached < k;
            uint256 step = ((below ? k - reached : reached - k) * ONE) / slope(x, y);
            if (step == 0) {
                if (below) {
                    if (invariant((x * ONE) / unit0, ((y + 1) * ONE) / unit1) > k) return y + 1;
                } else if (reached == k || invariant(x, y - 1) < k) {
                    return y;
                }
                step = 1;
            }
            y = below ? y + step : y - step;
        }
        revert("!y");
    }
}
