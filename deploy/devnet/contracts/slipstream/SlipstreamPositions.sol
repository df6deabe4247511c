// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {PriceMath} from "./PriceMath.sol";
import {SlipstreamTicks} from "./SlipstreamTicks.sol";
import {WideMath} from "./WideMath.sol";

/// Who has which liquidity. Staked liquidity is the gauge's: its fees go to the gauge in one sum, not to positions.
abstract contract SlipstreamPositions is SlipstreamTicks {
    struct Position {
        uint128 liquidity;
        uint256 feeGrowthInside0LastX128;
        uint256 feeGrowthInside1LastX128;
        uint128 tokensOwed0;
        uint128 tokensOwed1;
    }

    struct GaugeFees {
        uint128 token0;
        uint128 token1;
    }

    uint160 internal _sqrtPrice;
    int24 internal _tick;
    uint128 public liquidity;
    uint128 public stakedLiquidity;
    GaugeFees public gaugeFees;
    /// The gauge that staked liquidity belongs to, and whose liquidity may be staked.
    address public gauge;
    address public nft;
    mapping(bytes32 => Position) public positions;

    function _position(address owner, int24 lower, int24 upper) internal view returns (Position storage) {
        return positions[keccak256(abi.encodePacked(owner, lower, upper))];
    }

    /// Changes a position, ticks and liquidity in range; answers what is owed to the pool (> 0) or to the owner (< 0).
    function _modify(address owner, int24 lower, int24 upper, int128 delta) internal returns (Position storage position, int256 due0, int256 due1) {
        require(lower < upper, "TLU");
        require(lower >= -PriceMath.MAX_TICK && upper <= PriceMath.MAX_TICK, "TM");
        require(lower % tickSpacing == 0 && upper % tickSpacing == 0, "spacing");
        position = _position(owner, lower, upper);
        require(delta != 0 || position.liquidity > 0, "NP");
        // Ticks that begin now must know the growth so far; those that end now are still needed for it.
        if (delta > 0) _boundBoth(lower, upper, delta);
        _settle(position, lower, upper, delta, true);
        if (delta < 0) _boundBoth(lower, upper, delta);
        if (delta == 0) return (position, 0, 0);
        return (position, _due0(lower, upper, delta), _due1(lower, upper, delta));
    }

    /// Credits fees since the last time, except to staked liquidity, and changes the amount.
    function _settle(Position storage position, int24 lower, int24 upper, int128 delta, bool isPaid) internal {
        (uint256 inside0, uint256 inside1) = _growthInside(lower, upper, _tick);
        unchecked {
            if (isPaid) {
                position.tokensOwed0 += _share(inside0 - position.feeGrowthInside0LastX128, position.liquidity);
                position.tokensOwed1 += _share(inside1 - position.feeGrowthInside1LastX128, position.liquidity);
            }
        }
        (position.feeGrowthInside0LastX128, position.feeGrowthInside1LastX128) = (inside0, inside1);
        position.liquidity = _plus(position.liquidity, delta);
    }

    /// Hands liquidity of `nft` over to the gauge, or back where delta < 0.
    function _moveStake(int24 lower, int24 upper, int128 delta) internal {
        _settle(_position(nft, lower, upper), lower, upper, -delta, true);
        _settle(_position(gauge, lower, upper), lower, upper, delta, false);
        _ticks[lower].stakedLiquidityNet += delta;
        _ticks[upper].stakedLiquidityNet -= delta;
        if (_tick >= lower && _tick < upper) stakedLiquidity = _plus(stakedLiquidity, delta);
    }

    function _boundBoth(int24 lower, int24 upper, int128 delta) private {
        _bound(lower, _tick, delta, false);
        _bound(upper, _tick, delta, true);
        if (_tick >= lower && _tick < upper) liquidity = _plus(liquidity, delta);
    }

    function _due0(int24 lower, int24 upper, int128 delta) private view returns (int256) {
        if (_tick >= upper) return 0;
        uint160 from = _tick < lower ? PriceMath.sqrtPriceAt(lower) : _sqrtPrice;
        return _signed(PriceMath.amount0(from, PriceMath.sqrtPriceAt(upper), _size(delta), delta > 0), delta);
    }

    function _due1(int24 lower, int24 upper, int128 delta) private view returns (int256) {
        if (_tick < lower) return 0;
        uint160 to = _tick < upper ? _sqrtPrice : PriceMath.sqrtPriceAt(upper);
        return _signed(PriceMath.amount1(PriceMath.sqrtPriceAt(lower), to, _size(delta), delta > 0), delta);
    }

    function _size(int128 delta) private pure returns (uint128) {
        return uint128(delta < 0 ? -delta : delta);
    }

    function _signed(uint256 amount, int128 sign) private pure returns (int256) {
        return sign < 0 ? -int256(amount) : int256(amount);
    }

    function _share(uint256 growth, uint128 held) private pure returns (uint128) {
        return uint128(WideMath.mulDiv(growth, held, 2 ** 128));
    }
}
