// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {EulerConnector} from "./EulerConnector.sol";
import {EulerGovernance} from "./EulerGovernance.sol";
import {EulerMath} from "./EulerMath.sol";

interface IAsset {
    function balanceOf(address account) external view returns (uint256);
    function approve(address spender, uint256 value) external returns (bool);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface IController {
    function checkAccount(address account) external view;
}

/// The side of suppliers: an ERC-4626 vault whose shares may be collateral elsewhere. Shares move by their owner alone.
abstract contract EulerShares is EulerGovernance {
    uint32 internal constant OP_DEPOSIT = 1 << 0;
    uint32 internal constant OP_WITHDRAW = 1 << 2;
    uint32 internal constant OP_REDEEM = 1 << 3;
    uint32 internal constant OP_TRANSFER = 1 << 4;
    uint32 internal constant OP_CONVERT_FEES = 1 << 10;
    uint32 private constant OP_VAULT_STATUS_CHECK = 1 << 14;

    EulerConnector internal immutable connector;
    address public asset;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares);
    event Withdraw(
        address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares
    );
    event ConvertFees(
        address indexed sender,
        address indexed protocolReceiver,
        address indexed governorReceiver,
        uint256 protocolShares,
        uint256 governorShares
    );

    constructor(EulerConnector connector_) {
        connector = connector_;
    }

    function maxDeposit(address) external view returns (uint256) {
        Books memory books = _books();
        uint256 supplied = _assets(books);
        uint256 cap = EulerMath.cap(supplyCap);
        if (_isDisabled(OP_DEPOSIT) || supplied >= cap) return 0;
        uint256 most = EulerMath.MAX_AMOUNT - books.cash;
        return cap - supplied < most ? cap - supplied : most;
    }

    /// Not of accounts that owe something somewhere.
    function maxWithdraw(address owner) external view returns (uint256) {
        if (_isDisabled(OP_WITHDRAW) || connector.controllerOf(owner) != address(0)) return 0;
        Books memory books = _books();
        uint256 most = _toShares(books, books.cash);
        return _toAssets(books, balanceOf[owner] < most ? balanceOf[owner] : most);
    }

    function deposit(uint256 assets, address receiver) external returns (uint256 shares) {
        (Books memory books, Books memory before) = _begin(OP_DEPOSIT);
        if (assets == 0) return _end(books, before);
        shares = _toShares(books, assets);
        require(shares != 0, "E_ZeroShares");
        require(IAsset(asset).transferFrom(msg.sender, address(this), assets), "asset refused");
        books.cash += assets;
        _mint(books, receiver, shares);
        emit Deposit(msg.sender, receiver, assets, shares);
        _end(books, before);
    }

    function withdraw(uint256 assets, address receiver, address owner) external returns (uint256 shares) {
        (Books memory books, Books memory before) = _begin(OP_WITHDRAW);
        shares = _toSharesUp(books, assets);
        _pay(books, assets, shares, receiver, owner);
        _end(books, before);
    }

    function redeem(uint256 shares, address receiver, address owner) external returns (uint256 assets) {
        (Books memory books, Books memory before) = _begin(OP_REDEEM);
        assets = _toAssets(books, shares);
        require(assets != 0, "E_ZeroAssets");
        _pay(books, assets, shares, receiver, owner);
        _end(books, before);
    }

    function transfer(address to, uint256 shares) external returns (bool) {
        (Books memory books, Books memory before) = _begin(OP_TRANSFER);
        _move(msg.sender, to, shares);
        _checkOwner(msg.sender);
        _end(books, before);
        return true;
    }

    /// By the vault that the account owes to.
    function seize(address from, address to, uint256 shares) external {
        require(msg.sender == address(connector), "E_Unauthorized");
        _move(from, to, shares);
    }

    /// The governor's receiver gets all of them: the protocol takes no part here.
    function convertFees() external {
        (Books memory books, Books memory before) = _begin(OP_CONVERT_FEES);
        uint256 shares = books.fees;
        books.fees = 0;
        balanceOf[feeReceiver] += shares;
        emit Transfer(address(0), feeReceiver, shares);
        emit ConvertFees(msg.sender, address(0), feeReceiver, 0, shares);
        _end(books, before);
    }

    function _pay(Books memory books, uint256 assets, uint256 shares, address receiver, address owner) private {
        require(msg.sender == owner, "E_InsufficientAllowance");
        require(assets <= books.cash, "E_InsufficientCash");
        books.cash -= assets;
        balanceOf[owner] -= shares;
        books.shares -= shares;
        _store(books);
        require(IAsset(asset).transfer(receiver, assets), "asset refused");
        _checkOwner(owner);
        emit Transfer(owner, address(0), shares);
        emit Withdraw(msg.sender, receiver, owner, assets, shares);
    }

    function _mint(Books memory books, address to, uint256 shares) private {
        books.shares += shares;
        balanceOf[to] += shares;
        emit Transfer(address(0), to, shares);
    }

    function _move(address from, address to, uint256 shares) private {
        balanceOf[from] -= shares;
        balanceOf[to] += shares;
        emit Transfer(from, to, shares);
    }

    function _checkOwner(address owner) private view {
        address controller = connector.controllerOf(owner);
        if (controller != address(0)) IController(controller).checkAccount(owner);
    }

    function _begin(uint32 operation) internal returns (Books memory books, Books memory before) {
        _callHook(operation, _account());
        books = _books();
        before = _books();
    }

    /// The vault's status: the new rate, and caps where what they cap has grown.
    function _end(Books memory books, Books memory before) internal returns (uint256) {
        _store(books);
        _updateRate(books);
        _log();
        if (_assets(books) > _assets(before))
            require(_assets(books) <= EulerMath.cap(supplyCap), "E_SupplyCapExceeded");
        if (books.debt > before.debt)
            require(EulerMath.debtUp(books.debt) <= EulerMath.cap(borrowCap), "E_BorrowCapExceeded");
        _callHook(OP_VAULT_STATUS_CHECK, address(connector));
        return 0;
    }

    /// Who acts: the account of a batch, or the caller.
    function _account() internal view returns (address) {
        return msg.sender == address(connector) ? connector.account() : msg.sender;
    }
}
