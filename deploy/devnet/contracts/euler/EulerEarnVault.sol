// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {EulerEarnShares, IStrategy} from "./EulerEarnShares.sol";
import {IAsset} from "./EulerShares.sol";

interface IDecimals {
    function decimals() external view returns (uint8);
}

/// What owner and curator of an EulerEarn-like vault decide: strategies, caps, queues, fee. Allocators are left out: the
/// curator moves the assets.
contract EulerEarnVault is EulerEarnShares {
    uint256 private constant MAX_FEE = 0.5e18;

    struct MarketAllocation {
        address id;
        uint256 assets;
    }

    struct PendingCap {
        uint136 value;
        uint64 validAt;
    }

    address public owner;
    address public curator;
    uint256 public timelock;
    address public immutable creator;
    mapping(address => PendingCap) public pendingCap;

    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);
    event SetName(string name);
    event SetSymbol(string symbol);
    event SetCurator(address indexed newCurator);
    event SetFee(address indexed caller, uint256 newFee);
    event SetFeeRecipient(address indexed newFeeRecipient);
    event SetTimelock(address indexed caller, uint256 newTimelock);
    event SubmitCap(address indexed caller, address indexed id, uint256 cap);
    event SetCap(address indexed caller, address indexed id, uint256 cap);
    event SubmitMarketRemoval(address indexed caller, address indexed id);
    event RevokePendingMarketRemoval(address indexed caller, address indexed id);
    event SetSupplyQueue(address indexed caller, address[] newSupplyQueue);
    event SetWithdrawQueue(address indexed caller, address[] newWithdrawQueue);
    event ReallocateSupply(address indexed caller, address indexed id, uint256 suppliedAssets, uint256 suppliedShares);
    event ReallocateWithdraw(address indexed caller, address indexed id, uint256 withdrawnAssets, uint256 withdrawnShares);

    modifier onlyOwner() {
        require(msg.sender == owner, "OwnableUnauthorizedAccount");
        _;
    }

    modifier onlyCurator() {
        require(msg.sender == curator || msg.sender == owner, "NotCuratorRole");
        _;
    }

    constructor(address owner_, uint256 timelock_, address asset_, string memory name_, string memory symbol_)
        EulerEarnShares(asset_, name_, symbol_, IDecimals(asset_).decimals())
    {
        owner = owner_;
        emit OwnershipTransferred(address(0), owner_);
        timelock = timelock_;
        emit SetTimelock(msg.sender, timelock_);
        emit SetName(name_);
        emit SetSymbol(symbol_);
        creator = msg.sender;
    }

    function transferOwnership(address newOwner) external onlyOwner {
        emit OwnershipTransferred(owner, newOwner);
        owner = newOwner;
    }

    function setName(string calldata newName) external onlyOwner {
        name = newName;
        emit SetName(newName);
    }

    function setSymbol(string calldata newSymbol) external onlyOwner {
        symbol = newSymbol;
        emit SetSymbol(newSymbol);
    }

    function setCurator(address newCurator) external onlyOwner {
        curator = newCurator;
        emit SetCurator(newCurator);
    }

    function setFee(uint256 newFee) external onlyOwner {
        require(newFee <= MAX_FEE, "MaxFeeExceeded");
        require(newFee == 0 || feeRecipient != address(0), "ZeroFeeRecipient");
        _accrue();
        fee = uint96(newFee);
        emit SetFee(msg.sender, newFee);
    }

    function setFeeRecipient(address newFeeRecipient) external onlyOwner {
        _accrue();
        feeRecipient = newFeeRecipient;
        emit SetFeeRecipient(newFeeRecipient);
    }

    function submitCap(address id, uint256 cap) external onlyCurator {
        require(IStrategy(id).asset() == asset, "InconsistentAsset");
        require(config[id].removableAt == 0, "PendingRemoval");
        if (cap < config[id].cap) return _setCap(id, uint136(cap));
        pendingCap[id] = PendingCap(uint136(cap), uint64(block.timestamp + timelock));
        emit SubmitCap(msg.sender, id, cap);
    }

    function acceptCap(address id) external {
        PendingCap memory pending = pendingCap[id];
        require(pending.validAt != 0, "NoPendingValue");
        require(block.timestamp >= pending.validAt, "TimelockNotElapsed");
        _setCap(id, pending.value);
    }

    function submitMarketRemoval(address id) external onlyCurator {
        require(config[id].enabled && config[id].cap == 0, "NonZeroCap");
        config[id].removableAt = uint64(block.timestamp + timelock);
        emit SubmitMarketRemoval(msg.sender, id);
    }

    function revokePendingMarketRemoval(address id) external onlyCurator {
        config[id].removableAt = 0;
        emit RevokePendingMarketRemoval(msg.sender, id);
    }

    function setSupplyQueue(address[] calldata newSupplyQueue) external onlyCurator {
        for (uint256 i; i < newSupplyQueue.length; ++i)
            require(config[newSupplyQueue[i]].cap != 0, "UnauthorizedMarket");
        supplyQueue = newSupplyQueue;
        emit SetSupplyQueue(msg.sender, newSupplyQueue);
    }

    /// By places in the present queue. A strategy is left out when nothing is in it, or once it may be removed.
    function updateWithdrawQueue(uint256[] calldata indexes) external onlyCurator {
        address[] memory former = withdrawQueue;
        bool[] memory stays = new bool[](former.length);
        address[] memory queue = new address[](indexes.length);
        for (uint256 i; i < indexes.length; ++i) {
            require(!stays[indexes[i]], "DuplicateMarket");
            stays[indexes[i]] = true;
            queue[i] = former[indexes[i]];
        }
        for (uint256 i; i < former.length; ++i) {
            if (stays[i]) continue;
            MarketConfig memory known = config[former[i]];
            require(known.cap == 0, "InvalidMarketRemovalNonZeroCap");
            bool removable = known.removableAt != 0 && block.timestamp >= known.removableAt;
            require(expectedSupplyAssets(former[i]) == 0 || removable, "InvalidMarketRemovalNonZeroSupply");
            delete config[former[i]];
        }
        withdrawQueue = queue;
        emit SetWithdrawQueue(msg.sender, queue);
    }

    /// What each strategy is to hold, those to be taken from first; the largest number stands for all that was taken.
    function reallocate(MarketAllocation[] calldata allocations) external onlyCurator {
        uint256 taken;
        uint256 given;
        for (uint256 i; i < allocations.length; ++i) {
            address id = allocations[i].id;
            require(config[id].enabled, "MarketNotEnabled");
            uint256 held = expectedSupplyAssets(id);
            uint256 wanted = allocations[i].assets;
            if (wanted < held) taken += _take(id, held - wanted, wanted == 0);
            else given += _give(id, held, wanted == type(uint256).max ? taken - given : wanted - held);
        }
        require(taken == given, "InconsistentReallocation");
    }

    function _take(address id, uint256 assets, bool all) private returns (uint256) {
        uint256 shares = config[id].balance;
        if (all) assets = IStrategy(id).redeem(shares, address(this), address(this));
        else shares = IStrategy(id).withdraw(assets, address(this), address(this));
        config[id].balance -= uint112(shares);
        emit ReallocateWithdraw(msg.sender, id, assets, shares);
        return assets;
    }

    function _give(address id, uint256 held, uint256 assets) private returns (uint256) {
        if (assets == 0) return 0;
        require(held + assets <= config[id].cap, "SupplyCapExceeded");
        uint256 shares = IStrategy(id).deposit(assets, address(this));
        config[id].balance += uint112(shares);
        emit ReallocateSupply(msg.sender, id, assets, shares);
        return assets;
    }

    function _setCap(address id, uint136 cap) private {
        MarketConfig storage known = config[id];
        IAsset(asset).approve(id, cap == 0 ? 0 : type(uint256).max);
        if (cap != 0) {
            if (!known.enabled) {
                withdrawQueue.push(id);
                known.enabled = true;
                known.balance = uint112(IStrategy(id).balanceOf(address(this)));
                _setLastTotalAssets(lastTotalAssets + expectedSupplyAssets(id));
                emit SetWithdrawQueue(msg.sender, withdrawQueue);
            }
            known.removableAt = 0;
        }
        known.cap = cap;
        emit SetCap(msg.sender, id, cap);
        delete pendingCap[id];
    }
}
