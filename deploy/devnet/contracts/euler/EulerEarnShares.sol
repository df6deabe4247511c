// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {IAsset} from "./EulerShares.sol";

interface IStrategy {
    function asset() external view returns (address);
    function balanceOf(address account) external view returns (uint256);
    function previewRedeem(uint256 shares) external view returns (uint256);
    function maxDeposit(address account) external view returns (uint256);
    function maxWithdraw(address owner) external view returns (uint256);
    function deposit(uint256 assets, address receiver) external returns (uint256);
    function withdraw(uint256 assets, address receiver, address owner) external returns (uint256);
    function redeem(uint256 shares, address receiver, address owner) external returns (uint256);
}

/// The shares of a vault that puts its asset into others, what it has there, and its fee: as EulerEarn accounts for them.
abstract contract EulerEarnShares {
    uint256 private constant WAD = 1e18;
    uint256 private constant VIRTUAL_AMOUNT = 1e6;

    struct MarketConfig {
        /// Shares of the strategy that came by this vault's own doing.
        uint112 balance;
        uint136 cap;
        bool enabled;
        uint64 removableAt;
    }

    address public immutable asset;
    string public name;
    string public symbol;
    uint8 public immutable decimals;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => MarketConfig) public config;
    address[] public supplyQueue;
    address[] public withdrawQueue;
    uint96 public fee;
    address public feeRecipient;
    uint256 public lastTotalAssets;
    uint256 public lostAssets;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event Withdraw(
        address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares
    );
    event AccrueInterest(uint256 newTotalAssets, uint256 feeShares);
    event UpdateLastTotalAssets(uint256 updatedTotalAssets);
    event UpdateLostAssets(uint256 newLostAssets);

    constructor(address asset_, string memory name_, string memory symbol_, uint8 decimals_) {
        asset = asset_;
        name = name_;
        symbol = symbol_;
        decimals = decimals_;
    }

    function supplyQueueLength() external view returns (uint256) {
        return supplyQueue.length;
    }

    function withdrawQueueLength() external view returns (uint256) {
        return withdrawQueue.length;
    }

    function expectedSupplyAssets(address id) public view returns (uint256) {
        return IStrategy(id).previewRedeem(config[id].balance);
    }

    function maxWithdrawFromStrategy(address id) public view returns (uint256) {
        return _min(IStrategy(id).maxWithdraw(address(this)), expectedSupplyAssets(id));
    }

    function totalAssets() public view returns (uint256 assets) {
        (, assets, ) = _accrued();
    }

    function convertToAssets(uint256 shares) public view returns (uint256) {
        (uint256 feeShares, uint256 assets, ) = _accrued();
        return shares * (assets + VIRTUAL_AMOUNT) / (totalSupply + feeShares + VIRTUAL_AMOUNT);
    }

    function previewRedeem(uint256 shares) external view returns (uint256) {
        return convertToAssets(shares);
    }

    function maxDeposit(address) external view returns (uint256 room) {
        for (uint256 i; i < supplyQueue.length; ++i) room += _room(supplyQueue[i]);
    }

    function maxWithdraw(address owner) external view returns (uint256) {
        uint256 liquid;
        for (uint256 i; i < withdrawQueue.length; ++i) liquid += maxWithdrawFromStrategy(withdrawQueue[i]);
        return _min(convertToAssets(balanceOf[owner]), liquid);
    }

    function deposit(uint256 assets, address receiver) external returns (uint256 shares) {
        _accrue();
        shares = assets * (totalSupply + VIRTUAL_AMOUNT) / (lastTotalAssets + VIRTUAL_AMOUNT);
        require(shares != 0, "ZeroShares");
        require(IAsset(asset).transferFrom(msg.sender, address(this), assets), "asset refused");
        _mint(receiver, shares);
        emit Deposit(msg.sender, receiver, assets, shares);
        _supply(assets);
        _setLastTotalAssets(lastTotalAssets + assets);
    }

    function withdraw(uint256 assets, address receiver, address owner) external returns (uint256 shares) {
        require(msg.sender == owner, "not the owner");
        _accrue();
        uint256 total = lastTotalAssets + VIRTUAL_AMOUNT;
        shares = (assets * (totalSupply + VIRTUAL_AMOUNT) + total - 1) / total;
        _setLastTotalAssets(lastTotalAssets > assets ? lastTotalAssets - assets : 0);
        _withdraw(assets);
        balanceOf[owner] -= shares;
        totalSupply -= shares;
        emit Transfer(owner, address(0), shares);
        require(IAsset(asset).transfer(receiver, assets), "asset refused");
        emit Withdraw(msg.sender, receiver, owner, assets, shares);
    }

    function _accrue() internal {
        (uint256 feeShares, uint256 assets, uint256 lost) = _accrued();
        _setLastTotalAssets(assets);
        lostAssets = lost;
        emit UpdateLostAssets(lost);
        if (feeShares != 0) _mint(feeRecipient, feeShares);
        emit AccrueInterest(assets, feeShares);
    }

    function _setLastTotalAssets(uint256 assets) internal {
        lastTotalAssets = assets;
        emit UpdateLastTotalAssets(assets);
    }

    /// Losses do not lower what the shares stand for: they are carried along until they are made good.
    function _accrued() private view returns (uint256 feeShares, uint256 assets, uint256 lost) {
        uint256 held;
        for (uint256 i; i < withdrawQueue.length; ++i) held += expectedSupplyAssets(withdrawQueue[i]);
        lost = held < lastTotalAssets - lostAssets ? lastTotalAssets - held : lostAssets;
        assets = held + lost;
        uint256 feeAssets = (assets - lastTotalAssets) * fee / WAD;
        if (feeAssets != 0)
            feeShares = feeAssets * (totalSupply + VIRTUAL_AMOUNT) / (assets - feeAssets + VIRTUAL_AMOUNT);
    }

    function _supply(uint256 assets) private {
        for (uint256 i; i < supplyQueue.length && assets != 0; ++i) {
            address id = supplyQueue[i];
            uint256 part = _min(_room(id), assets);
            if (part == 0) continue;
            config[id].balance += uint112(IStrategy(id).deposit(part, address(this)));
            assets -= part;
        }
        require(assets == 0, "AllCapsReached");
    }

    function _withdraw(uint256 assets) private {
        for (uint256 i; i < withdrawQueue.length && assets != 0; ++i) {
            address id = withdrawQueue[i];
            uint256 part = _min(maxWithdrawFromStrategy(id), assets);
            if (part == 0) continue;
            config[id].balance -= uint112(IStrategy(id).withdraw(part, address(this), address(this)));
            assets -= part;
        }
        require(assets == 0, "NotEnoughLiquidity");
    }

    function _room(address id) private view returns (uint256) {
        uint256 held = expectedSupplyAssets(id);
        uint256 cap = config[id].cap;
        return held >= cap ? 0 : _min(cap - held, IStrategy(id).maxDeposit(address(this)));
    }

    function _mint(address to, uint256 shares) private {
        totalSupply += shares;
        balanceOf[to] += shares;
        emit Transfer(address(0), to, shares);
    }

    function _min(uint256 a, uint256 b) private pure returns (uint256) {
        return a < b ? a : b;
    }
}
