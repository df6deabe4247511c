// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {Expected, IAsset, IMorpho, Market, MarketParams} from "./IMorpho.sol";

/// A vault with the getters, events and accounting of MetaMorpho v1.1, which is not on npm: what a market loses stays
/// in totalAssets, counted in lostAssets, and names may change. Without what the devnet has no use for: allocators,
/// guardians' vetoes, permits, transfers of shares.
contract LossKeepingVault {
    using Expected for IMorpho;

    struct MarketConfig {
        uint184 cap;
        bool enabled;
        uint64 removableAt;
    }

    struct Pending {
        uint192 value;
        uint64 validAt;
    }

    IMorpho public immutable MORPHO;
    IAsset public immutable asset;
    uint8 public immutable DECIMALS_OFFSET;
    string public name;
    string public symbol;
    address public owner;
    address public curator;
    address public guardian;
    address public feeRecipient;
    uint256 public timelock;
    uint96 public fee;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    uint256 public lastTotalAssets;
    uint256 public lostAssets;
    bytes32[] public supplyQueue;
    bytes32[] public withdrawQueue;
    mapping(bytes32 => MarketConfig) public config;
    mapping(bytes32 => Pending) public pendingCap;

    event SetName(string name);
    event SetSymbol(string symbol);
    event SetTimelock(address indexed caller, uint256 newTimelock);
    event SetCurator(address indexed newCurator);
    event SetFee(address indexed caller, uint256 newFee);
    event SetFeeRecipient(address indexed newFeeRecipient);
    event SubmitCap(address indexed caller, bytes32 indexed id, uint256 cap);
    event SetCap(address indexed caller, bytes32 indexed id, uint256 cap);
    event SetSupplyQueue(address indexed caller, bytes32[] newSupplyQueue);
    event SetWithdrawQueue(address indexed caller, bytes32[] newWithdrawQueue);
    event UpdateLastTotalAssets(uint256 updatedTotalAssets);
    event UpdateLostAssets(uint256 newLostAssets);
    event AccrueInterest(uint256 newTotalAssets, uint256 feeShares);
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares);

    modifier onlyOwner() {
        require(msg.sender == owner, "not the owner");
        _;
    }

    constructor(address owner_, IMorpho morpho, uint256 timelock_, IAsset asset_, string memory name_, string memory symbol_) {
        MORPHO = morpho;
        asset = asset_;
        uint8 decimals = asset_.decimals();
        DECIMALS_OFFSET = decimals < 18 ? 18 - decimals : 0;
        owner = owner_;
        emit OwnershipTransferred(address(0), owner_);
        timelock = timelock_;
        emit SetTimelock(msg.sender, timelock_);
        name = name_;
        symbol = symbol_;
        asset_.approve(address(morpho), type(uint256).max);
    }

    function setName(string memory newName) external onlyOwner {
        name = newName;
        emit SetName(newName);
    }

    function setSymbol(string memory newSymbol) external onlyOwner {
        symbol = newSymbol;
        emit SetSymbol(newSymbol);
    }

    function setCurator(address newCurator) external onlyOwner {
        curator = newCurator;
        emit SetCurator(newCurator);
    }

    function setFeeRecipient(address newFeeRecipient) external onlyOwner {
        _accrue();
        feeRecipient = newFeeRecipient;
        emit SetFeeRecipient(newFeeRecipient);
    }

    function setFee(uint256 newFee) external onlyOwner {
        _accrue();
        fee = uint96(newFee);
        emit SetFee(msg.sender, newFee);
    }

    function submitCap(MarketParams memory market, uint256 newCap) external {
        require(msg.sender == owner || msg.sender == curator, "not the curator");
        bytes32 id = keccak256(abi.encode(market));
        if (newCap < config[id].cap) {
            _setCap(id, uint184(newCap));
        } else {
            pendingCap[id] = Pending(uint192(newCap), uint64(block.timestamp + timelock));
            emit SubmitCap(msg.sender, id, newCap);
        }
    }

    function acceptCap(MarketParams memory market) external {
        bytes32 id = keccak256(abi.encode(market));
        Pending memory pending = pendingCap[id];
        require(pending.validAt != 0 && block.timestamp >= pending.validAt, "too early");
        _setCap(id, uint184(pending.value));
    }

    function setSupplyQueue(bytes32[] memory queue) external onlyOwner {
        supplyQueue = queue;
        emit SetSupplyQueue(msg.sender, queue);
    }

    function supplyQueueLength() external view returns (uint256) {
        return supplyQueue.length;
    }

    function withdrawQueueLength() external view returns (uint256) {
        return withdrawQueue.length;
    }

    function maxDeposit(address) external view returns (uint256 room) {
        for (uint256 i; i < supplyQueue.length; ++i) room += _room(supplyQueue[i]);
    }

    function totalAssets() public view returns (uint256 total) {
        (, total,) = _accrued();
    }

    function convertToAssets(uint256 shares) external view returns (uint256) {
        (uint256 feeShares, uint256 total,) = _accrued();
        return shares * (total + 1) / (totalSupply + feeShares + 10 ** DECIMALS_OFFSET);
    }

    function deposit(uint256 assets, address receiver) external returns (uint256 shares) {
        _accrue();
        shares = _toShares(assets, totalSupply, lastTotalAssets);
        asset.transferFrom(msg.sender, address(this), assets);
        _mint(receiver, shares);
        uint256 left = assets;
        for (uint256 i; i < supplyQueue.length && left > 0; ++i) {
            bytes32 id = supplyQueue[i];
            uint256 room = _room(id);
            uint256 put = room < left ? room : left;
            if (put > 0) MORPHO.supply(MORPHO.idToMarketParams(id), put, 0, address(this), "");
            left -= put;
        }
        require(left == 0, "all caps reached");
        _setLastTotalAssets(lastTotalAssets + assets);
        emit Deposit(msg.sender, receiver, assets, shares);
    }

    function maxWithdraw(address owner_) external view returns (uint256) {
        (uint256 feeShares, uint256 total,) = _accrued();
        uint256 held = balanceOf[owner_] * (total + 1) / (totalSupply + feeShares + 10 ** DECIMALS_OFFSET);
        uint256 free;
        for (uint256 i; i < withdrawQueue.length; ++i) free += _withdrawable(withdrawQueue[i]);
        return held < free ? held : free;
    }

    function withdraw(uint256 assets, address receiver, address owner_) external returns (uint256 shares) {
        require(owner_ == msg.sender, "shares cannot be approved");
        _accrue();
        shares = _toShares(assets, totalSupply, lastTotalAssets) + 1;
        balanceOf[msg.sender] -= shares;
        totalSupply -= shares;
        emit Transfer(msg.sender, address(0), shares);
        _setLastTotalAssets(lastTotalAssets - assets);
        uint256 left = assets;
        for (uint256 i; i < withdrawQueue.length && left > 0; ++i) {
            bytes32 id = withdrawQueue[i];
            uint256 take = _withdrawable(id);
            if (take > left) take = left;
            if (take > 0) MORPHO.withdraw(MORPHO.idToMarketParams(id), take, 0, address(this), address(this));
            left -= take;
        }
        require(left == 0, "not enough liquidity");
        asset.transfer(receiver, assets);
        emit Withdraw(msg.sender, receiver, msg.sender, assets, shares);
    }

    function _setCap(bytes32 id, uint184 cap) private {
        MarketConfig storage set = config[id];
        if (cap > 0 && !set.enabled) {
            set.enabled = true;
            withdrawQueue.push(id);
            _setLastTotalAssets(lastTotalAssets + MORPHO.assetsOf(id, address(this)));
            emit SetWithdrawQueue(msg.sender, withdrawQueue);
        }
        if (cap > 0) set.removableAt = 0;
        set.cap = cap;
        emit SetCap(msg.sender, id, cap);
        delete pendingCap[id];
    }

    function _room(bytes32 id) private view returns (uint256) {
        Market memory now_ = MORPHO.marketNow(id);
        (uint256 shares,,) = MORPHO.position(id, address(this));
        uint256 d = now_.totalSupplyShares + 1e6;
        uint256 held = (shares * (now_.totalSupplyAssets + 1) + d - 1) / d;
        uint256 cap = config[id].cap;
        return cap > held ? cap - held : 0;
    }

    function _withdrawable(bytes32 id) private view returns (uint256) {
        Market memory now_ = MORPHO.market(id);
        uint256 free = now_.totalSupplyAssets - now_.totalBorrowAssets;
        uint256 held = MORPHO.assetsOf(id, address(this));
        return held < free ? held : free;
    }

    function _accrued() private view returns (uint256 feeShares, uint256 total, uint256 lost) {
        uint256 held;
        for (uint256 i; i < withdrawQueue.length; ++i) held += MORPHO.assetsOf(withdrawQueue[i], address(this));
        // Losses on top of those that are counted already.
        lost = held < lastTotalAssets - lostAssets ? lastTotalAssets - held : lostAssets;
        total = held + lost;
        uint256 feeAssets = (total - lastTotalAssets) * fee / 1e18;
        feeShares = _toShares(feeAssets, totalSupply, total - feeAssets);
    }

    function _accrue() private {
        (uint256 feeShares, uint256 total, uint256 lost) = _accrued();
        _setLastTotalAssets(total);
        lostAssets = lost;
        emit UpdateLostAssets(lost);
        if (feeShares > 0) _mint(feeRecipient, feeShares);
        emit AccrueInterest(total, feeShares);
    }

    function _toShares(uint256 assets, uint256 supply, uint256 total) private view returns (uint256) {
        return assets * (supply + 10 ** DECIMALS_OFFSET) / (total + 1);
    }

    function _mint(address to, uint256 shares) private {
        totalSupply += shares;
        balanceOf[to] += shares;
        emit Transfer(address(0), to, shares);
    }

    function _setLastTotalAssets(uint256 total) private {
        lastTotalAssets = total;
        emit UpdateLastTotalAssets(total);
    }
}
