// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {IStrategy} from "./EulerEarnShares.sol";
import {EulerMath} from "./EulerMath.sol";
import {IAsset} from "./EulerShares.sol";

interface IDescribed {
    function decimals() external view returns (uint8);
}

/// EulerEarn as it was before August 2025: strategies have points, yield is harvested and then handed out little by
/// little. With the events, getters and arithmetic of Euler's documentation of it.
contract EulerAggregationVault {
    uint256 private constant WAD = 1e18;
    uint32 private constant OP_DEPOSIT = 1 << 0;
    uint32 private constant OP_WITHDRAW = 1 << 1;

    enum Status {
        Inactive,
        Active,
        Emergency
    }

    struct Strategy {
        uint120 allocated;
        uint96 allocationPoints;
        /// An AmountCap.
        uint16 cap;
        Status status;
    }

    address public immutable asset;
    uint8 public immutable decimals;
    string public name;
    string public symbol;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    uint256 public totalAssetsDeposited;
    uint256 public totalAllocated;
    uint256 public totalAllocationPoints;
    uint256 public immutable interestSmearingPeriod;
    uint40 private lastInterestUpdate;
    uint40 private interestSmearEnd;
    uint168 private interestLeft;
    address private feeRecipient;
    uint96 private fee;
    address private hooksTarget;
    uint32 private hookedFns;
    address[] private queue;
    address[] private admins;
    mapping(address => Strategy) private strategies;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event Withdraw(
        address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares
    );
    event Gulp(uint256 interestLeft, uint256 interestSmearEnd);
    event DeductLoss(uint256 socializedAmount);
    event InterestUpdated(uint256 interestAccrued, uint256 interestLeft);
    event AccruePerformanceFee(address indexed feeRecipient, uint256 yield, uint256 feeShares);
    event Harvest(uint256 totalAllocated, uint256 totalYield, uint256 totalLoss);
    event Rebalance(address indexed strategy, uint256 amountToRebalance, bool isDeposit);
    event AddStrategy(address indexed strategy, uint256 allocationPoints);
    event RemoveStrategy(address indexed strategy);
    event SetStrategyCap(address indexed strategy, uint256 cap);
    event ToggleStrategyEmergencyStatus(address indexed strategy, bool isSetToEmergency);
    event SetFeeRecipient(address indexed oldRecipient, address indexed newRecipient);
    event SetPerformanceFee(uint96 oldFee, uint96 newFee);
    event SetHooksConfig(address indexed hooksTarget, uint32 hookedFns);
    event ReorderWithdrawalQueue(uint8 index1, uint8 index2);
    event RoleGranted(bytes32 indexed role, address indexed account, address indexed sender);
    event RoleRevoked(bytes32 indexed role, address indexed account, address indexed sender);

    /// The devnet has one admin for all roles.
    modifier onlyAdmin() {
        require(admins.length != 0 && msg.sender == admins[0], "AccessControlUnauthorizedAccount");
        _;
    }

    constructor(
        address owner,
        address asset_,
        string memory name_,
        string memory symbol_,
        uint256 cashPoints,
        uint24 smearingPeriod
    ) {
        asset = asset_;
        decimals = IDescribed(asset_).decimals();
        name = name_;
        symbol = symbol_;
        interestSmearingPeriod = smearingPeriod;
        totalAllocationPoints = cashPoints;
        strategies[address(0)] = Strategy(0, uint96(cashPoints), 0, Status.Active);
        admins.push(owner);
        emit RoleGranted(bytes32(0), owner, msg.sender);
    }

    function getStrategy(address strategy) external view returns (Strategy memory) {
        return strategies[strategy];
    }

    function withdrawalQueue() external view returns (address[] memory) {
        return queue;
    }

    function getRoleMembers(bytes32 role) external view returns (address[] memory) {
        return role == bytes32(0) ? admins : new address[](0);
    }

    function performanceFeeConfig() external view returns (address, uint96) {
        return (feeRecipient, fee);
    }

    function getHooksConfig() external view returns (address, uint32) {
        return (hooksTarget, hookedFns);
    }

    function getEulerEarnSavingRate() external view returns (uint40, uint40, uint168) {
        return (lastInterestUpdate, interestSmearEnd, interestLeft);
    }

    function interestAccrued() public view returns (uint256) {
        if (totalSupply == 0 || lastInterestUpdate == block.timestamp) return 0;
        if (block.timestamp >= interestSmearEnd) return interestLeft;
        return uint256(interestLeft) * (block.timestamp - lastInterestUpdate) / (interestSmearEnd - lastInterestUpdate);
    }

    function totalAssets() public view returns (uint256) {
        return totalAssetsDeposited + interestAccrued();
    }

    function totalAssetsAllocatable() public view returns (uint256) {
        return IAsset(asset).balanceOf(address(this)) + totalAllocated;
    }

    function previewRedeem(uint256 shares) public view returns (uint256) {
        return shares * (totalAssets() + 1) / (totalSupply + 1);
    }

    function maxWithdraw(address owner) external view returns (uint256) {
        uint256 liquid = IAsset(asset).balanceOf(address(this));
        for (uint256 i; i < queue.length; ++i) {
            if (strategies[queue[i]].status == Status.Active) liquid += IStrategy(queue[i]).maxWithdraw(address(this));
        }
        uint256 held = previewRedeem(balanceOf[owner]);
        return held < liquid ? held : liquid;
    }

    function maxDeposit(address) external pure returns (uint256) {
        return type(uint208).max;
    }

    function deposit(uint256 assets, address receiver) external returns (uint256 shares) {
        _callHook(OP_DEPOSIT);
        shares = assets * (totalSupply + 1) / (totalAssets() + 1);
        require(IAsset(asset).transferFrom(msg.sender, address(this), assets), "asset refused");
        _mint(receiver, shares);
        totalAssetsDeposited += assets;
        emit Deposit(msg.sender, receiver, assets, shares);
    }

    function withdraw(uint256 assets, address receiver, address owner) external returns (uint256 shares) {
        _updateInterest();
        _callHook(OP_WITHDRAW);
        _harvest();
        uint256 total = totalAssets() + 1;
        shares = (assets * (totalSupply + 1) + total - 1) / total;
        require(msg.sender == owner, "not the owner");
        _collect(assets);
        totalAssetsDeposited -= assets;
        balanceOf[owner] -= shares;
        totalSupply -= shares;
        emit Transfer(owner, address(0), shares);
        require(IAsset(asset).transfer(receiver, assets), "asset refused");
        emit Withdraw(msg.sender, receiver, owner, assets, shares);
    }

    function harvest() external {
        _updateInterest();
        _harvest();
    }

    function gulp() external {
        _gulp();
    }

    function rebalance(address[] calldata order) external {
        _updateInterest();
        _harvest();
        for (uint256 i; i < order.length; ++i) _rebalance(order[i]);
    }

    function addStrategy(address strategy, uint256 points) external onlyAdmin {
        require(strategies[strategy].status == Status.Inactive, "StrategyAlreadyExist");
        strategies[strategy] = Strategy(0, uint96(points), 0, Status.Active);
        totalAllocationPoints += points;
        queue.push(strategy);
        IAsset(asset).approve(strategy, type(uint256).max);
        emit AddStrategy(strategy, points);
    }

    function removeStrategy(address strategy) external onlyAdmin {
        require(strategies[strategy].allocated == 0, "CanNotRemoveStrategyWithAllocatedAmount");
        totalAllocationPoints -= strategies[strategy].allocationPoints;
        delete strategies[strategy];
        for (uint256 i; i + 1 < queue.length; ++i) if (queue[i] == strategy) queue[i] = queue[queue.length - 1];
        queue.pop();
        emit RemoveStrategy(strategy);
    }

    function setStrategyCap(address strategy, uint16 cap) external onlyAdmin {
        strategies[strategy].cap = cap;
        emit SetStrategyCap(strategy, cap);
    }

    function reorderWithdrawalQueue(uint8 index1, uint8 index2) external onlyAdmin {
        (queue[index1], queue[index2]) = (queue[index2], queue[index1]);
        emit ReorderWithdrawalQueue(index1, index2);
    }

    /// What is in a strategy in emergency counts as lost until it is taken back.
    function toggleStrategyEmergencyStatus(address id) external onlyAdmin {
        Strategy storage strategy = strategies[id];
        _updateInterest();
        bool isEmergency = strategy.status == Status.Active;
        if (isEmergency) {
            strategy.status = Status.Emergency;
            _deductLoss(strategy.allocated);
            totalAllocationPoints -= strategy.allocationPoints;
            totalAllocated -= strategy.allocated;
        } else {
            uint256 held = _heldIn(id);
            strategy.status = Status.Active;
            strategy.allocated = uint120(held);
            totalAllocationPoints += strategy.allocationPoints;
            totalAllocated += held;
        }
        emit ToggleStrategyEmergencyStatus(id, isEmergency);
        _gulp();
    }

    function setFeeRecipient(address recipient) external onlyAdmin {
        emit SetFeeRecipient(feeRecipient, recipient);
        feeRecipient = recipient;
    }

    function setPerformanceFee(uint96 newFee) external onlyAdmin {
        emit SetPerformanceFee(fee, newFee);
        fee = newFee;
    }

    function setHooksConfig(address target, uint32 functions) external onlyAdmin {
        (hooksTarget, hookedFns) = (target, functions);
        emit SetHooksConfig(target, functions);
    }

    function grantRole(bytes32 role, address account) external onlyAdmin {
        admins.push(account);
        emit RoleGranted(role, account, msg.sender);
    }

    function revokeRole(bytes32 role, address account) external onlyAdmin {
        for (uint256 i; i < admins.length; ++i) if (admins[i] == account) admins[i] = admins[admins.length - 1];
        admins.pop();
        emit RoleRevoked(role, account, msg.sender);
    }

    function _mint(address to, uint256 shares) private {
        totalSupply += shares;
        balanceOf[to] += shares;
        emit Transfer(address(0), to, shares);
    }

    function _heldIn(address strategy) private view returns (uint256) {
        return IStrategy(strategy).previewRedeem(IStrategy(strategy).balanceOf(address(this)));
    }

    function _collect(uint256 assets) private {
        uint256 cash = IAsset(asset).balanceOf(address(this));
        for (uint256 i; i < queue.length && cash < assets; ++i) {
            if (strategies[queue[i]].status != Status.Active) continue;
            uint256 most = IStrategy(queue[i]).maxWithdraw(address(this));
            uint256 part = most < assets - cash ? most : assets - cash;
            IStrategy(queue[i]).withdraw(part, address(this), address(this));
            strategies[queue[i]].allocated -= uint120(part);
            totalAllocated -= part;
            cash += part;
        }
        require(cash >= assets, "NotEnoughAssets");
    }

    function _rebalance(address id) private {
        Strategy storage strategy = strategies[id];
        if (id == address(0) || strategy.status != Status.Active) return;
        uint256 all = totalAssetsAllocatable();
        uint256 target = all * strategy.allocationPoints / totalAllocationPoints;
        if (target > EulerMath.cap(strategy.cap)) target = EulerMath.cap(strategy.cap);
        if (strategy.allocated > target) {
            uint256 part = strategy.allocated - target;
            IStrategy(id).withdraw(part, address(this), address(this));
            totalAllocated -= part;
            strategy.allocated -= uint120(part);
            emit Rebalance(id, part, false);
        } else if (strategy.allocated < target) {
            uint256 part = target - strategy.allocated;
            IStrategy(id).deposit(part, address(this));
            totalAllocated += part;
            strategy.allocated += uint120(part);
            emit Rebalance(id, part, true);
        }
    }

    function _harvest() private {
        uint256 gain;
        uint256 loss;
        for (uint256 i; i < queue.length; ++i) {
            Strategy storage strategy = strategies[queue[i]];
            if (strategy.status != Status.Active) continue;
            uint256 held = _heldIn(queue[i]);
            if (held > strategy.allocated) gain += held - strategy.allocated;
            else loss += strategy.allocated - held;
            strategy.allocated = uint120(held);
        }
        if (loss > gain) _deductLoss(loss - gain);
        else if (gain > loss) _takeFee(gain - loss);
        totalAllocated = totalAllocated + gain - loss;
        _gulp();
        emit Harvest(totalAllocated, gain, loss);
    }

    function _takeFee(uint256 gain) private {
        if (feeRecipient == address(0) || fee == 0) return;
        uint256 feeAssets = gain * fee / WAD;
        uint256 feeShares = feeAssets * (totalSupply + 1) / (totalAssets() + 1);
        if (feeShares != 0) {
            totalAssetsDeposited += feeAssets;
            _mint(feeRecipient, feeShares);
        }
        emit AccruePerformanceFee(feeRecipient, gain, feeShares);
    }

    /// What was not handed out yet bears a loss first.
    function _deductLoss(uint256 loss) private {
        uint256 spare = totalAssetsAllocatable() - totalAssetsDeposited;
        interestLeft = 0;
        if (loss <= spare) return;
        totalAssetsDeposited -= loss - spare;
        emit DeductLoss(loss - spare);
    }

    function _updateInterest() private {
        uint256 accrued = interestAccrued();
        if (accrued == 0) return;
        interestLeft -= uint168(accrued);
        lastInterestUpdate = uint40(block.timestamp);
        totalAssetsDeposited += accrued;
        emit InterestUpdated(accrued, interestLeft);
    }

    function _gulp() private {
        _updateInterest();
        uint256 more = totalAssetsAllocatable() - totalAssetsDeposited - interestLeft;
        if (more == 0) return;
        interestLeft += uint168(more);
        lastInterestUpdate = uint40(block.timestamp);
        interestSmearEnd = uint40(block.timestamp + interestSmearingPeriod);
        emit Gulp(interestLeft, interestSmearEnd);
    }

    function _callHook(uint32 operation) private {
        if (hookedFns & operation == 0) return;
        (bool agreed, ) = hooksTarget.call(abi.encodePacked(msg.data, msg.sender));
        require(agreed, "refused by hook");
    }
}
