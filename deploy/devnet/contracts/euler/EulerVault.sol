// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {EulerConnector} from "./EulerConnector.sol";
import {EulerDebtToken} from "./EulerDebtToken.sol";
import {EulerMath} from "./EulerMath.sol";
import {EulerShares, IAsset} from "./EulerShares.sol";

interface INamed {
    function symbol() external view returns (string memory);
    function decimals() external view returns (uint8);
}

interface IPrices {
    function getQuote(uint256 inAmount, address base, address quote) external view returns (uint256);
}

/// An Euler-like vault: lends its asset against shares of other vaults. Debts are in the asset's unit / 2^31.
contract EulerVault is EulerShares {
    uint32 private constant OP_BORROW = 1 << 6;
    uint32 private constant OP_REPAY = 1 << 7;
    uint32 private constant OP_LIQUIDATE = 1 << 11;
    uint32 private constant OP_TOUCH = 1 << 13;
    uint32 private constant CFG_DONT_SOCIALIZE_DEBT = 1 << 0;
    /// What a liquidator gets for each hundred of debt it takes over.
    uint256 private constant LIQUIDATION_YIELD = 105;

    struct Debt {
        uint256 owed;
        uint256 accumulator;
    }

    string public name;
    string public symbol;
    address public oracle;
    address public unitOfAccount;
    address public dToken;
    address public creator;
    mapping(address => Debt) private debts;

    event EVaultCreated(address indexed creator, address indexed asset, address dToken);
    event Borrow(address indexed account, uint256 assets);
    event Repay(address indexed account, uint256 assets);
    event InterestAccrued(address indexed account, uint256 assets);
    event DebtSocialized(address indexed account, uint256 assets);
    event Liquidate(
        address indexed liquidator,
        address indexed violator,
        address collateral,
        uint256 repayAssets,
        uint256 yieldBalance
    );

    constructor(EulerConnector connector_) EulerShares(connector_) {}

    /// The metadata: asset, oracle and unit of account, 20 bytes each.
    function initialize(address creator_, bytes calldata metadata) external {
        require(asset == address(0), "E_Initialized");
        require(metadata.length == 60, "E_ProxyMetadata");
        asset = address(bytes20(metadata[:20]));
        oracle = address(bytes20(metadata[20:40]));
        unitOfAccount = address(bytes20(metadata[40:]));
        creator = governorAdmin = creator_;
        dToken = address(new EulerDebtToken());
        string memory assetSymbol = INamed(asset).symbol();
        uint256 number = connector.reserve(assetSymbol);
        require(number < 10, "out of names");
        symbol = string.concat("e", assetSymbol, "-", string(abi.encodePacked(bytes1(uint8(48 + number)))));
        name = string.concat("EVK Vault ", symbol);
        emit EVaultCreated(creator_, asset, dToken);
        _open();
    }

    function decimals() external view returns (uint8) {
        return INamed(asset).decimals();
    }

    function EVC() external view returns (address) {
        return address(connector);
    }

    function debtOf(address account) external view returns (uint256) {
        return EulerMath.debtUp(_owed(_books(), account));
    }

    /// Collateral by borrow or liquidation LTV, and debt, both in the unit of account.
    function accountLiquidity(address account, bool liquidation) public view returns (uint256 held, uint256 owes) {
        require(oracle != address(0), "E_NoPriceOracle");
        address[] memory list = LTVList();
        for (uint256 i; i < list.length; ++i) {
            uint256 ltv = liquidation ? LTVLiquidation(list[i]) : LTVBorrow(list[i]);
            uint256 shares = IAsset(list[i]).balanceOf(account);
            if (ltv != 0 && shares != 0)
                held += IPrices(oracle).getQuote(shares, list[i], unitOfAccount) * ltv / EulerMath.SCALE;
        }
        uint256 owed = EulerMath.debtUp(_owed(_books(), account));
        owes = asset == unitOfAccount ? owed : IPrices(oracle).getQuote(owed, asset, unitOfAccount);
    }

    /// Reverts where the account's collateral does not carry its debt here.
    function checkAccount(address account) public view {
        if (debts[account].owed == 0) return;
        (uint256 held, uint256 owes) = accountLiquidity(account, false);
        require(held > owes, "E_AccountLiquidity");
    }

    function touch() external {
        (Books memory books, Books memory before) = _begin(OP_TOUCH);
        _end(books, before);
    }

    function borrow(uint256 assets, address receiver) external returns (uint256) {
        address account = _account();
        require(connector.controllerOf(account) == address(this), "E_ControllerDisabled");
        (Books memory books, Books memory before) = _begin(OP_BORROW);
        if (assets == 0) return _end(books, before);
        require(assets <= books.cash, "E_InsufficientCash");
        books.cash -= assets;
        _lend(books, account, assets);
        _store(books);
        require(IAsset(asset).transfer(receiver, assets), "asset refused");
        checkAccount(account);
        _end(books, before);
        return assets;
    }

    /// The largest amount stands for all that the account owes.
    function repay(uint256 assets, address account) external returns (uint256) {
        (Books memory books, Books memory before) = _begin(OP_REPAY);
        if (assets == type(uint256).max) assets = EulerMath.debtUp(_owed(books, account));
        require(IAsset(asset).transferFrom(msg.sender, address(this), assets), "asset refused");
        books.cash += assets;
        _forgive(books, account, assets);
        _end(books, before);
        return assets;
    }

    function disableController() external {
        require(debts[msg.sender].owed == 0, "E_OutstandingDebt");
        connector.disableController(msg.sender);
    }

    /// Takes over debt of an account that its collateral does not carry, and collateral for it. What is owed without any
    /// collateral left is everybody's loss.
    function liquidate(address violator, address collateral, uint256 assets, uint256 minYield) external {
        (Books memory books, Books memory before) = _begin(OP_LIQUIDATE);
        {
            (uint256 held, uint256 owes) = accountLiquidity(violator, true);
            require(held < owes, "violator is healthy");
        }
        require(LTVLiquidation(collateral) != 0, "E_BadCollateral");
        require(connector.controllerOf(msg.sender) == address(this), "E_ControllerDisabled");
        uint256 taken = _yieldOf(violator, collateral, assets);
        require(taken >= minYield, "E_MinYield");
        _forgive(books, violator, assets);
        _lend(books, msg.sender, assets);
        _store(books);
        connector.controlCollateral(collateral, violator, msg.sender, taken);
        checkAccount(msg.sender);
        emit Liquidate(msg.sender, violator, collateral, assets, taken);
        if (configFlags & CFG_DONT_SOCIALIZE_DEBT == 0 && _hasNoCollateral(violator)) {
            uint256 lost = EulerMath.debtUp(_owed(books, violator));
            if (lost != 0) {
                _forgive(books, violator, lost);
                emit DebtSocialized(violator, lost);
            }
        }
        _end(books, before);
    }

    function _yieldOf(address violator, address collateral, uint256 assets) private view returns (uint256) {
        uint256 shares = IAsset(collateral).balanceOf(violator);
        uint256 worth = IPrices(oracle).getQuote(shares, collateral, unitOfAccount);
        uint256 due = IPrices(oracle).getQuote(assets, asset, unitOfAccount) * LIQUIDATION_YIELD / 100;
        return due >= worth ? shares : shares * due / worth;
    }

    function _hasNoCollateral(address account) private view returns (bool) {
        address[] memory list = LTVList();
        for (uint256 i; i < list.length; ++i) {
            if (IAsset(list[i]).balanceOf(account) != 0) return false;
        }
        return true;
    }

    function _owed(Books memory books, address account) private view returns (uint256) {
        Debt memory debt = debts[account];
        return debt.owed == 0 ? 0 : debt.owed * books.accumulator / debt.accumulator;
    }

    function _lend(Books memory books, address account, uint256 assets) private {
        uint256 more = assets << EulerMath.DEBT_SHIFT;
        uint256 owed = _owed(books, account) + more;
        uint256 known = EulerMath.debtUp(debts[account].owed);
        uint256 interest = EulerMath.debtUp(owed) - known - assets;
        if (interest != 0) emit InterestAccrued(account, interest);
        emit Borrow(account, assets);
        EulerDebtToken(dToken).emitTransfer(address(0), account, assets + interest);
        debts[account] = Debt(owed, books.accumulator);
        books.debt += more;
    }

    /// What stays owed is whole units of the asset, as in the original.
    function _forgive(Books memory books, address account, uint256 assets) private {
        uint256 exact = _owed(books, account);
        uint256 owed = EulerMath.debtUp(exact);
        require(assets <= owed, "E_RepayTooMuch");
        uint256 rest = (owed - assets) << EulerMath.DEBT_SHIFT;
        uint256 interest = owed - EulerMath.debtUp(debts[account].owed);
        if (interest != 0) emit InterestAccrued(account, interest);
        emit Repay(account, assets);
        EulerDebtToken(dToken).emitTransfer(account, address(0), assets);
        debts[account] = Debt(rest, books.accumulator);
        books.debt = books.debt > exact ? books.debt - exact + rest : rest;
    }
}
