// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {AerodromeLpToken} from "./AerodromeLpToken.sol";
import {StableCurve} from "./StableCurve.sol";

interface IERC20 {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
    function symbol() external view returns (string memory);
    function decimals() external view returns (uint8);
}

interface IFactory {
    function getFee(address pool, bool stable) external view returns (uint256);
    function isPaused() external view returns (bool);
}

interface ICallee {
    function hook(address sender, uint256 amount0, uint256 amount1, bytes calldata data) external;
}

/// Keeps a pool's fees apart from its reserves.
contract AerodromePoolFees {
    address private immutable pool = msg.sender;
    IERC20 private immutable token0;
    IERC20 private immutable token1;

    constructor(address token0_, address token1_) {
        token0 = IERC20(token0_);
        token1 = IERC20(token1_);
    }

    function claimFeesFor(address recipient, uint256 amount0, uint256 amount1) external {
        require(msg.sender == pool, "not the pool");
        if (amount0 > 0) token0.transfer(recipient, amount0);
        if (amount1 > 0) token1.transfer(recipient, amount1);
    }
}

/// A pool with the events, getters and arithmetic of Aerodrome v2, volatile (xy = k) or stable (x3y + y3x = k).
/// Fees are taken from what comes in, leave the pool at once and are owed to LP tokens by two growing indexes.
contract AerodromePool is AerodromeLpToken {
    uint256 private constant MINIMUM_LIQUIDITY = 1_000;
    uint256 private constant MINIMUM_K = 10 ** 10;

    address public factory;
    address public token0;
    address public token1;
    bool public stable;
    address public poolFees;
    uint256 private unit0;
    uint256 private unit1;

    uint256 public reserve0;
    uint256 public reserve1;
    uint256 public blockTimestampLast;
    /// Fees since the beginning for each LP token, times 1e18.
    uint256 public index0;
    uint256 public index1;
    mapping(address => uint256) public supplyIndex0;
    mapping(address => uint256) public supplyIndex1;
    mapping(address => uint256) public claimable0;
    mapping(address => uint256) public claimable1;

    event Fees(address indexed sender, uint256 amount0, uint256 amount1);
    event Mint(address indexed sender, uint256 amount0, uint256 amount1);
    event Burn(address indexed sender, address indexed to, uint256 amount0, uint256 amount1);
    event Swap(address indexed sender, address indexed to, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out);
    event Sync(uint256 reserve0, uint256 reserve1);
    event Claim(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1);

    /// Once, by the factory that made it.
    function initialize(address token0_, address token1_, bool stable_) external {
        require(factory == address(0), "initialized");
        (factory, token0, token1, stable) = (msg.sender, token0_, token1_, stable_);
        poolFees = address(new AerodromePoolFees(token0_, token1_));
        string memory pair = string.concat(IERC20(token0_).symbol(), "/", IERC20(token1_).symbol());
        name = string.concat(stable_ ? "StableV2 AMM - " : "VolatileV2 AMM - ", pair);
        symbol = string.concat(stable_ ? "sAMMV2-" : "vAMMV2-", pair);
        unit0 = 10 ** IERC20(token0_).decimals();
        unit1 = 10 ** IERC20(token1_).decimals();
    }

    function metadata() external view returns (uint256 dec0, uint256 dec1, uint256 r0, uint256 r1, bool st, address t0, address t1) {
        return (unit0, unit1, reserve0, reserve1, stable, token0, token1);
    }

    function tokens() external view returns (address, address) {
        return (token0, token1);
    }

    function getReserves() external view returns (uint256 _reserve0, uint256 _reserve1, uint256 _blockTimestampLast) {
        return (reserve0, reserve1, blockTimestampLast);
    }

    function getK() external view returns (uint256) {
        return _k(reserve0, reserve1);
    }

    /// What a swap of `amountIn` gives, fee taken.
    function getAmountOut(uint256 amountIn, address tokenIn) external view returns (uint256) {
        uint256 added = amountIn - _fee(amountIn);
        bool isToken0 = tokenIn == token0;
        if (!stable) {
            (uint256 reserveIn, uint256 reserveOut) = isToken0 ? (reserve0, reserve1) : (reserve1, reserve0);
            return (added * reserveOut) / (reserveIn + added);
        }
        (uint256 unitIn, uint256 unitOut) = isToken0 ? (unit0, unit1) : (unit1, unit0);
        (uint256 x, uint256 y) = ((reserve0 * 1e18) / unit0, (reserve1 * 1e18) / unit1);
        if (!isToken0) (x, y) = (y, x);
        uint256 left = StableCurve.solve(x + (added * 1e18) / unitIn, _k(reserve0, reserve1), y, unit0, unit1);
        return ((y - left) * unitOut) / 1e18;
    }

    /// LP tokens for what was sent to the pool before.
    function mint(address to) external returns (uint256 liquidity) {
        (uint256 balance0, uint256 balance1) = _balances();
        (uint256 amount0, uint256 amount1) = (balance0 - reserve0, balance1 - reserve1);
        if (totalSupply == 0) {
            liquidity = _sqrt(amount0 * amount1) - MINIMUM_LIQUIDITY;
            _move(address(0), address(1), MINIMUM_LIQUIDITY);
            if (stable) {
                require((amount0 * 1e18) / unit0 == (amount1 * 1e18) / unit1, "DepositsNotEqual");
                require(_k(amount0, amount1) > MINIMUM_K, "BelowMinimumK");
            }
        } else {
            (uint256 by0, uint256 by1) = ((amount0 * totalSupply) / reserve0, (amount1 * totalSupply) / reserve1);
            liquidity = by0 < by1 ? by0 : by1;
        }
        require(liquidity > 0, "InsufficientLiquidityMinted");
        _move(address(0), to, liquidity);
        _update(balance0, balance1);
        emit Mint(msg.sender, amount0, amount1);
    }

    /// Reserves for the LP tokens that were sent to the pool before.
    function burn(address to) external returns (uint256 amount0, uint256 amount1) {
        (uint256 balance0, uint256 balance1) = _balances();
        uint256 liquidity = balanceOf[address(this)];
        amount0 = (liquidity * balance0) / totalSupply;
        amount1 = (liquidity * balance1) / totalSupply;
        require(amount0 > 0 && amount1 > 0, "InsufficientLiquidityBurned");
        _move(address(this), address(0), liquidity);
        IERC20(token0).transfer(to, amount0);
        IERC20(token1).transfer(to, amount1);
        _update(balance0 - amount0, balance1 - amount1);
        emit Burn(msg.sender, to, amount0, amount1);
    }

    /// Gives the amounts asked for whatever was sent to the pool before, if the curve allows it.
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external {
        require(!IFactory(factory).isPaused(), "IsPaused");
        require(amount0Out > 0 || amount1Out > 0, "InsufficientOutputAmount");
        require(amount0Out < reserve0 && amount1Out < reserve1, "InsufficientLiquidity");
        require(to != token0 && to != token1, "InvalidTo");
        if (amount0Out > 0) IERC20(token0).transfer(to, amount0Out);
        if (amount1Out > 0) IERC20(token1).transfer(to, amount1Out);
        if (data.length > 0) ICallee(to).hook(msg.sender, amount0Out, amount1Out, data);

        (uint256 balance0, uint256 balance1) = _balances();
        uint256 amount0In = _excess(balance0, reserve0 - amount0Out);
        uint256 amount1In = _excess(balance1, reserve1 - amount1Out);
        require(amount0In > 0 || amount1In > 0, "InsufficientInputAmount");
        balance0 -= _takeFee0(amount0In);
        balance1 -= _takeFee1(amount1In);
        require(_k(balance0, balance1) >= _k(reserve0, reserve1), "K");
        _update(balance0, balance1);
        emit Swap(msg.sender, to, amount0In, amount1In, amount0Out, amount1Out);
    }

    /// Gives away what balances exceed reserves by.
    function skim(address to) external {
        (uint256 balance0, uint256 balance1) = _balances();
        IERC20(token0).transfer(to, balance0 - reserve0);
        IERC20(token1).transfer(to, balance1 - reserve1);
    }

    /// Takes balances as reserves.
    function sync() external {
        (uint256 balance0, uint256 balance1) = _balances();
        _update(balance0, balance1);
    }

    function claimFees() external returns (uint256 claimed0, uint256 claimed1) {
        _settle(msg.sender);
        (claimed0, claimed1) = (claimable0[msg.sender], claimable1[msg.sender]);
        if (claimed0 == 0 && claimed1 == 0) return (0, 0);
        (claimable0[msg.sender], claimable1[msg.sender]) = (0, 0);
        AerodromePoolFees(poolFees).claimFeesFor(msg.sender, claimed0, claimed1);
        emit Claim(msg.sender, msg.sender, claimed0, claimed1);
    }

    /// Credits an owner with the fees since it was last settled.
    function _settle(address owner) internal override {
        uint256 held = balanceOf[owner];
        if (held > 0) {
            claimable0[owner] += (held * (index0 - supplyIndex0[owner])) / 1e18;
            claimable1[owner] += (held * (index1 - supplyIndex1[owner])) / 1e18;
        }
        (supplyIndex0[owner], supplyIndex1[owner]) = (index0, index1);
    }

    function _fee(uint256 amountIn) private view returns (uint256) {
        return (amountIn * IFactory(factory).getFee(address(this), stable)) / 10_000;
    }

    function _takeFee0(uint256 amountIn) private returns (uint256 fee) {
        fee = _fee(amountIn);
        if (fee == 0) return 0;
        IERC20(token0).transfer(poolFees, fee);
        index0 += (fee * 1e18) / totalSupply;
        emit Fees(msg.sender, fee, 0);
    }

    function _takeFee1(uint256 amountIn) private returns (uint256 fee) {
        fee = _fee(amountIn);
        if (fee == 0) return 0;
        IERC20(token1).transfer(poolFees, fee);
        index1 += (fee * 1e18) / totalSupply;
        emit Fees(msg.sender, 0, fee);
    }

    function _update(uint256 balance0, uint256 balance1) private {
        (reserve0, reserve1, blockTimestampLast) = (balance0, balance1, block.timestamp);
        emit Sync(balance0, balance1);
    }

    function _balances() private view returns (uint256, uint256) {
        return (IERC20(token0).balanceOf(address(this)), IERC20(token1).balanceOf(address(this)));
    }

    function _k(uint256 x, uint256 y) private view returns (uint256) {
        return stable ? StableCurve.invariant((x * 1e18) / unit0, (y * 1e18) / unit1) : x * y;
    }

    function _excess(uint256 balance, uint256 expected) private pure returns (uint256) {
        return balance > expected ? balance - expected : 0;
    }

    function _sqrt(uint256 square) private pure returns (uint256 root) {
        if (square == 0) return 0;
        uint256 next = square / 2 + 1;
        root = square;
        while (next < root) (root, next) = (next, (square / next + next) / 2);
    }
}
