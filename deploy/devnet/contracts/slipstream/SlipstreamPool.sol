// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {PriceMath} from "./PriceMath.sol";
import {SlipstreamPositions} from "./SlipstreamPositions.sol";
import {WideMath} from "./WideMath.sol";

interface IBalance {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
}

interface ICallbacks {
    function uniswapV3SwapCallback(int256 amount0, int256 amount1, bytes calldata data) external;
    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata data) external;
    function uniswapV3FlashCallback(uint256 fee0, uint256 fee1, bytes calldata data) external;
}

interface IFees {
    function getSwapFee(address pool) external view returns (uint24);
    function getUnstakedFee(address pool) external view returns (uint24);
}

/// A pool with the events, getters and arithmetic of Aerodrome's Slipstream: Uniswap v3's, but for a fee that the factory
/// can change at any time, a slot0 of six values, and liquidity staked in a gauge, which takes that liquidity's fees.
contract SlipstreamPool is SlipstreamPositions {
    address public factory;
    address public token0;
    address public token1;

    event Initialize(uint160 sqrtPriceX96, int24 tick);
    event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1);
    event Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount0, uint128 amount1);
    event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1);
    event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick);
    event Flash(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1, uint256 paid0, uint256 paid1);
    event CollectFees(address indexed recipient, uint128 amount0, uint128 amount1);

    /// Once, by the factory that made it; the price is set at the same time.
    function initialize(address token0_, address token1_, int24 tickSpacing_, address nft_, uint160 sqrtPriceX96) external {
        require(factory == address(0), "initialized");
        (factory, token0, token1, tickSpacing, nft) = (msg.sender, token0_, token1_, tickSpacing_, nft_);
        (_sqrtPrice, _tick) = (sqrtPriceX96, PriceMath.tickAt(sqrtPriceX96));
        emit Initialize(sqrtPriceX96, _tick);
    }

    function setGauge(address gauge_) external {
        require(msg.sender == factory && gauge == address(0), "not to be set");
        gauge = gauge_;
    }

    function slot0()
        external
        view
        returns (
            uint160 sqrtPriceX96,
            int24 tick,
            uint16 observationIndex,
            uint16 observationCardinality,
            uint16 observationCardinalityNext,
            bool unlocked
        )
    {
        return (_sqrtPrice, _tick, 0, 1, 1, true);
    }

    /// Hundredths of a bip, as of now.
    function fee() public view returns (uint24) {
        return IFees(factory).getSwapFee(address(this));
    }

    /// The part, in millionths, of unstaked liquidity's fees that goes to the gauge.
    function unstakedFee() public view returns (uint24) {
        return IFees(factory).getUnstakedFee(address(this));
    }

    function mint(address recipient, int24 tickLower, int24 tickUpper, uint128 amount, bytes calldata data) external returns (uint256 amount0, uint256 amount1) {
        require(amount > 0, "no liquidity");
        (, int256 due0, int256 due1) = _modify(recipient, tickLower, tickUpper, int128(amount));
        (amount0, amount1) = (uint256(due0), uint256(due1));
        (uint256 wanted0, uint256 wanted1) = (_balance(token0) + amount0, _balance(token1) + amount1);
        ICallbacks(msg.sender).uniswapV3MintCallback(amount0, amount1, data);
        require(_balance(token0) >= wanted0, "M0");
        require(_balance(token1) >= wanted1, "M1");
        emit Mint(msg.sender, recipient, tickLower, tickUpper, amount, amount0, amount1);
    }

    function burn(int24 tickLower, int24 tickUpper, uint128 amount) external returns (uint256 amount0, uint256 amount1) {
        (Position storage position, int256 due0, int256 due1) = _modify(msg.sender, tickLower, tickUpper, -int128(amount));
        (amount0, amount1) = (uint256(-due0), uint256(-due1));
        position.tokensOwed0 += uint128(amount0);
        position.tokensOwed1 += uint128(amount1);
        emit Burn(msg.sender, tickLower, tickUpper, amount, amount0, amount1);
    }

    function collect(address recipient, int24 tickLower, int24 tickUpper, uint128 max0, uint128 max1) external returns (uint128 amount0, uint128 amount1) {
        Position storage position = _position(msg.sender, tickLower, tickUpper);
        amount0 = max0 > position.tokensOwed0 ? position.tokensOwed0 : max0;
        amount1 = max1 > position.tokensOwed1 ? position.tokensOwed1 : max1;
        position.tokensOwed0 -= amount0;
        position.tokensOwed1 -= amount1;
        _send(token0, recipient, amount0);
        _send(token1, recipient, amount1);
        emit Collect(msg.sender, recipient, tickLower, tickUpper, amount0, amount1);
    }

    struct SwapState {
        int256 remaining;
        int256 calculated;
        uint160 price;
        int24 tick;
        uint128 liquidity;
        uint128 staked;
        uint256 growth;
        uint256 gaugeFee;
    }

    function swap(address recipient, bool zeroForOne, int256 amountSpecified, uint160 limit, bytes calldata data) external returns (int256 amount0, int256 amount1) {
        require(amountSpecified != 0, "AS");
        require(
            zeroForOne
                ? limit < _sqrtPrice && limit > PriceMath.MIN_SQRT_PRICE
                : limit > _sqrtPrice && limit < PriceMath.MAX_SQRT_PRICE,
            "SPL"
        );
        uint24 pips = fee();
        SwapState memory state = SwapState({
            remaining: amountSpecified,
            calculated: 0,
            price: _sqrtPrice,
            tick: _tick,
            liquidity: liquidity,
            staked: stakedLiquidity,
            growth: zeroForOne ? feeGrowthGlobal0X128 : feeGrowthGlobal1X128,
            gaugeFee: 0
        });
        while (state.remaining != 0 && state.price != limit) _swapStep(state, zeroForOne, limit, pips);

        _store(state, zeroForOne);
        int256 used = amountSpecified - state.remaining;
        (amount0, amount1) = zeroForOne == (amountSpecified > 0) ? (used, state.calculated) : (state.calculated, used);

        _exchange(recipient, zeroForOne, amount0, amount1, data);
        emit Swap(msg.sender, recipient, amount0, amount1, state.price, state.liquidity, state.tick);
    }

    function flash(address recipient, uint256 amount0, uint256 amount1, bytes calldata data) external {
        require(liquidity > 0, "L");
        (uint256 paid0, uint256 paid1) = (_balance(token0), _balance(token1));
        _send(token0, recipient, amount0);
        _send(token1, recipient, amount1);
        uint256 fee0 = _flashFee(amount0);
        uint256 fee1 = _flashFee(amount1);
        ICallbacks(msg.sender).uniswapV3FlashCallback(fee0, fee1, data);
        (paid0, paid1) = (_balance(token0) - paid0, _balance(token1) - paid1);
        require(paid0 >= fee0, "F0");
        require(paid1 >= fee1, "F1");
        _credit(paid0, paid1);
        emit Flash(msg.sender, recipient, amount0, amount1, paid0, paid1);
    }

    /// By the gauge: stakes liquidity of `nft` (unstakes it where delta < 0).
    function stake(int128 stakedLiquidityDelta, int24 tickLower, int24 tickUpper) external {
        require(msg.sender == gauge, "NG");
        _moveStake(tickLower, tickUpper, stakedLiquidityDelta);
    }

    /// By the gauge: takes its fees but for one unit a token, which keeps the slot warm.
    function collectFees() external returns (uint128 amount0, uint128 amount1) {
        require(msg.sender == gauge, "NG");
        (amount0, amount1) = (gaugeFees.token0, gaugeFees.token1);
        if (amount0 > 1) _send(token0, msg.sender, --amount0);
        if (amount0 > 0) gaugeFees.token0 = 1;
        if (amount1 > 1) _send(token1, msg.sender, --amount1);
        if (amount1 > 0) gaugeFees.token1 = 1;
        emit CollectFees(msg.sender, amount0, amount1);
    }

    function _swapStep(SwapState memory state, bool zeroForOne, uint160 limit, uint24 pips) private {
        (int24 next, bool isInitialized) = _nextTick(state.tick, zeroForOne);
        if (next < -PriceMath.MAX_TICK) next = -PriceMath.MAX_TICK;
        else if (next > PriceMath.MAX_TICK) next = PriceMath.MAX_TICK;
        uint160 nextPrice = PriceMath.sqrtPriceAt(next);
        uint160 target = (zeroForOne ? nextPrice < limit : nextPrice > limit) ? limit : nextPrice;
        uint160 start = state.price;
        PriceMath.Step memory made = PriceMath.step(start, target, state.liquidity, state.remaining, pips);
        state.price = made.price;
        if (state.remaining > 0) {
            state.remaining -= int256(made.amountIn + made.fee);
            state.calculated -= int256(made.amountOut);
        } else {
            state.remaining += int256(made.amountOut);
            state.calculated += int256(made.amountIn + made.fee);
        }
        if (state.liquidity > 0) {
            (uint256 growth, uint256 gaugeFee) = _split(made.fee, state.liquidity, state.staked);
            unchecked {
                state.growth += growth;
            }
            state.gaugeFee += gaugeFee;
        }
        if (state.price != nextPrice) {
            if (state.price != start) state.tick = PriceMath.tickAt(state.price);
            return;
        }
        if (isInitialized) {
            (int128 net, int128 stakedNet) = zeroForOne
                ? _cross(next, state.growth, feeGrowthGlobal1X128)
                : _cross(next, feeGrowthGlobal0X128, state.growth);
            state.liquidity = _plus(state.liquidity, zeroForOne ? -net : net);
            state.staked = _plus(state.staked, zeroForOne ? -stakedNet : stakedNet);
        }
        state.tick = zeroForOne ? next - 1 : next;
    }

    function _store(SwapState memory state, bool zeroForOne) private {
        (_sqrtPrice, _tick, liquidity, stakedLiquidity) = (state.price, state.tick, state.liquidity, state.staked);
        if (zeroForOne) feeGrowthGlobal0X128 = state.growth;
        else feeGrowthGlobal1X128 = state.growth;
        if (zeroForOne) gaugeFees.token0 += uint128(state.gaugeFee);
        else gaugeFees.token1 += uint128(state.gaugeFee);
    }

    function _exchange(address recipient, bool zeroForOne, int256 amount0, int256 amount1, bytes calldata data) private {
        (address tokenIn, address tokenOut) = zeroForOne ? (token0, token1) : (token1, token0);
        (int256 amountIn, int256 amountOut) = zeroForOne ? (amount0, amount1) : (amount1, amount0);
        if (amountOut < 0) _send(tokenOut, recipient, uint256(-amountOut));
        uint256 wanted = _balance(tokenIn) + uint256(amountIn);
        ICallbacks(msg.sender).uniswapV3SwapCallback(amount0, amount1, data);
        require(_balance(tokenIn) >= wanted, "IIA");
    }

    function _flashFee(uint256 amount) private view returns (uint256) {
        return WideMath.mulDivUp(amount, fee(), 1e6);
    }

    function _credit(uint256 paid0, uint256 paid1) private {
        (uint256 growth0, uint256 gauge0) = _split(paid0, liquidity, stakedLiquidity);
        (uint256 growth1, uint256 gauge1) = _split(paid1, liquidity, stakedLiquidity);
        unchecked {
            feeGrowthGlobal0X128 += growth0;
            feeGrowthGlobal1X128 += growth1;
        }
        gaugeFees.token0 += uint128(gauge0);
        gaugeFees.token1 += uint128(gauge1);
    }

    /// Growth of a fee for each unit of unstaked liquidity, and the gauge's sum: staked liquidity's share and the unstaked fee.
    function _split(uint256 paid, uint128 all, uint128 staked) private view returns (uint256 growth, uint256 gaugeFee) {
        if (paid == 0) return (0, 0);
        if (all == staked) return (0, paid);
        gaugeFee = WideMath.mulDivUp(paid, staked, all);
        gaugeFee += WideMath.mulDivUp(paid - gaugeFee, unstakedFee(), 1e6);
        growth = WideMath.mulDiv(paid - gaugeFee, 2 ** 128, all - staked);
    }

    function _balance(address token) private view returns (uint256) {
        return IBalance(token).balanceOf(address(this));
    }

    function _send(address token, address to, uint256 amount) private {
        if (amount > 0) require(IBalance(token).transfer(to, amount), "transfer refused");
    }
}
