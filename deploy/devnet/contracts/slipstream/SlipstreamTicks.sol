// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// The ticks at which liquidity begins and ends, and the fees that grew beyond them.
abstract contract SlipstreamTicks {
    struct Tick {
        uint128 liquidityGross;
        int128 liquidityNet;
        int128 stakedLiquidityNet;
        uint256 feeGrowthOutside0X128;
        uint256 feeGrowthOutside1X128;
    }

    int24 public tickSpacing;
    uint256 public feeGrowthGlobal0X128;
    uint256 public feeGrowthGlobal1X128;
    mapping(int24 => Tick) internal _ticks;
    /// One bit for each usable tick.
    mapping(int16 => uint256) public tickBitmap;

    /// The original's ten values: liquidityGross, liquidityNet, stakedLiquidityNet, feeGrowthOutside0X128,
    /// feeGrowthOutside1X128, of rewards and observations (not kept here: 0), and whether it is in use.
    function ticks(int24 tick)
        external
        view
        returns (uint128, int128, int128, uint256, uint256, uint256, int56, uint160, uint32, bool)
    {
        Tick memory edge = _ticks[tick];
        (uint256 growth0, uint256 growth1) = (edge.feeGrowthOutside0X128, edge.feeGrowthOutside1X128);
        (uint128 gross, int128 net) = (edge.liquidityGross, edge.liquidityNet);
        return (gross, net, edge.stakedLiquidityNet, growth0, growth1, 0, 0, 0, 0, gross > 0);
    }

    /// Adds liquidity that begins (or, `isUpper`, ends) at a tick; removes it where delta < 0.
    function _bound(int24 tick, int24 current, int128 delta, bool isUpper) internal {
        Tick storage edge = _ticks[tick];
        bool wasEmpty = edge.liquidityGross == 0;
        edge.liquidityGross = _plus(edge.liquidityGross, delta);
        edge.liquidityNet = isUpper ? edge.liquidityNet - delta : edge.liquidityNet + delta;
        if (wasEmpty && tick <= current) {
            // By convention all growth so far happened below.
            (edge.feeGrowthOutside0X128, edge.feeGrowthOutside1X128) = (feeGrowthGlobal0X128, feeGrowthGlobal1X128);
        }
        if (wasEmpty != (edge.liquidityGross == 0)) {
            (int16 word, uint8 bit) = _place(tick / tickSpacing);
            tickBitmap[word] ^= 1 << bit;
        }
        if (edge.liquidityGross == 0) delete _ticks[tick];
    }

    /// Fees that grew between two ticks, for each unit of liquidity; only differences of it mean something.
    function _growthInside(int24 lower, int24 upper, int24 current) internal view returns (uint256 inside0, uint256 inside1) {
        unchecked {
            (uint256 below0, uint256 below1) = _growthBeyond(lower, current >= lower);
            (uint256 above0, uint256 above1) = _growthBeyond(upper, current < upper);
            (inside0, inside1) = (feeGrowthGlobal0X128 - below0 - above0, feeGrowthGlobal1X128 - below1 - above1);
        }
    }

    function _growthBeyond(int24 tick, bool isOutside) private view returns (uint256 growth0, uint256 growth1) {
        Tick storage edge = _ticks[tick];
        (growth0, growth1) = (edge.feeGrowthOutside0X128, edge.feeGrowthOutside1X128);
        unchecked {
            if (!isOutside) (growth0, growth1) = (feeGrowthGlobal0X128 - growth0, feeGrowthGlobal1X128 - growth1);
        }
    }

    /// The price passes a tick: what grew outside of it is now on the other side.
    function _cross(int24 tick, uint256 growth0, uint256 growth1) internal returns (int128 net, int128 stakedNet) {
        Tick storage edge = _ticks[tick];
        unchecked {
            edge.feeGrowthOutside0X128 = growth0 - edge.feeGrowthOutside0X128;
            edge.feeGrowthOutside1X128 = growth1 - edge.feeGrowthOutside1X128;
        }
        return (edge.liquidityNet, edge.stakedLiquidityNet);
    }

    /// The next tick with liquidity within the same 256 usable ticks, else their edge: at or below `tick` where
    /// `downwards`, above it otherwise.
    function _nextTick(int24 tick, bool downwards) internal view returns (int24 next, bool isInitialized) {
        int24 usable = tick / tickSpacing;
        if (tick < 0 && tick % tickSpacing != 0) usable--;
        (int16 word, uint8 bit) = _place(downwards ? usable : usable + 1);
        uint256 bits = tickBitmap[word];
        uint8 found;
        if (downwards) {
            bits &= type(uint256).max >> (255 - bit);
            found = bits == 0 ? 0 : _highest(bits);
        } else {
            bits &= type(uint256).max << bit;
            found = bits == 0 ? 255 : _highest(bits & (~bits + 1));
        }
        next = ((int24(word) << 8) + int24(uint24(found))) * tickSpacing;
        isInitialized = bits != 0;
    }

    /// The place of the highest bit that is set.
    function _highest(uint256 bits) private pure returns (uint8 place) {
        for (uint8 half = 128; half > 0; half >>= 1) {
            if (bits >> half == 0) continue;
            bits >>= half;
            place += half;
        }
    }

    function _place(int24 usable) private pure returns (int16 word, uint8 bit) {
        return (int16(usable >> 8), uint8(uint24(usable)));
    }

    function _plus(uint128 a, int128 b) internal pure returns (uint128) {
        return b < 0 ? a - uint128(-b) : a + uint128(b);
    }
}
