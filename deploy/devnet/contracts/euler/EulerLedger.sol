// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {EulerMath} from "./EulerMath.sol";

interface IRateModel {
    function computeInterestRate(address vault, uint256 cash, uint256 borrows) external returns (uint256);
}

/// What a vault has and owes, and how interest grows it: as the Euler Vault Kit keeps and accrues it.
abstract contract EulerLedger {
    /// 1,000,000 % a year.
    uint256 private constant MAX_RATE = 291867278914945094175;
    uint256 private constant VIRTUAL_DEPOSIT = 1e6;

    struct Books {
        uint256 cash;
        /// Those of the fees included.
        uint256 shares;
        uint256 fees;
        /// In 2^-31 of the asset's unit.
        uint256 debt;
        /// 27 decimals.
        uint256 accumulator;
        uint256 time;
    }

    /// As of the last settlement.
    Books private stored;
    uint256 private storedRate;
    uint16 public interestFee;
    address public interestRateModel;

    event VaultStatus(
        uint256 totalShares,
        uint256 totalBorrows,
        uint256 accumulatedFees,
        uint256 cash,
        uint256 interestAccumulator,
        uint256 interestRate,
        uint256 timestamp
    );

    function cash() external view returns (uint256) {
        return stored.cash;
    }

    function interestRate() external view returns (uint256) {
        return storedRate;
    }

    function totalSupply() external view returns (uint256) {
        return _books().shares;
    }

    function totalBorrows() external view returns (uint256) {
        return EulerMath.debtUp(_books().debt);
    }

    function totalBorrowsExact() external view returns (uint256) {
        return _books().debt;
    }

    function interestAccumulator() external view returns (uint256) {
        return _books().accumulator;
    }

    function accumulatedFees() external view returns (uint256) {
        return _books().fees;
    }

    function accumulatedFeesAssets() external view returns (uint256) {
        Books memory books = _books();
        return _toAssets(books, books.fees);
    }

    function totalAssets() external view returns (uint256) {
        return _assets(_books());
    }

    function convertToAssets(uint256 shares) external view returns (uint256) {
        return _toAssets(_books(), shares);
    }

    function previewRedeem(uint256 shares) external view returns (uint256) {
        return _toAssets(_books(), shares);
    }

    function convertToShares(uint256 assets) external view returns (uint256) {
        return _toShares(_books(), assets);
    }

    function _open() internal {
        stored.accumulator = EulerMath.ONE;
        stored.time = block.timestamp;
        interestFee = 1000;
        _log();
    }

    /// The books with interest up to now. What would leave the representable range does not accrue.
    function _books() internal view returns (Books memory books) {
        books = stored;
        uint256 elapsed = block.timestamp - books.time;
        if (elapsed == 0) return books;
        uint256 accumulator = books.accumulator;
        (uint256 growth, bool fits) = EulerMath.power(EulerMath.ONE + storedRate, elapsed);
        if (fits) {
            (bool ok, uint256 product) = EulerMath.product256(accumulator, growth);
            if (ok) accumulator = product / EulerMath.ONE;
        }
        uint256 debt = books.debt;
        {
            (bool ok, uint256 product) = EulerMath.product256(debt, accumulator);
            if (ok) debt = product / books.accumulator;
        }
        if (debt > EulerMath.MAX_DEBT) return books;
        uint256 feeAssets = (debt - books.debt) * interestFee / (EulerMath.SCALE << EulerMath.DEBT_SHIFT);
        if (feeAssets != 0) {
            uint256 assets = books.cash + EulerMath.debtUp(debt);
            uint256 shares = assets * books.shares / (assets - feeAssets);
            if (shares <= EulerMath.MAX_AMOUNT) {
                books.fees += shares - books.shares;
                books.shares = shares;
            }
        }
        books.debt = debt;
        books.accumulator = accumulator;
        books.time = block.timestamp;
    }

    function _store(Books memory books) internal {
        stored = books;
    }

    /// A rate model that fails leaves the rate as it was.
    function _updateRate(Books memory books) internal {
        if (interestRateModel == address(0)) return;
        uint256 borrows = EulerMath.debtUp(books.debt);
        try IRateModel(interestRateModel).computeInterestRate(address(this), books.cash, borrows) returns (uint256 rate) {
            storedRate = rate > MAX_RATE ? MAX_RATE : rate;
        } catch {}
    }

    function _setRateModel(address model) internal {
        Books memory books = _books();
        _store(books);
        interestRateModel = model;
        storedRate = 0;
        _updateRate(books);
        _log();
    }

    function _setInterestFee(uint16 fee) internal {
        require(fee <= EulerMath.SCALE, "E_BadFee");
        _store(_books());
        _log();
        interestFee = fee;
    }

    /// Of books that are stored.
    function _log() internal {
        Books memory books = stored;
        emit VaultStatus(
            books.shares,
            EulerMath.debtUp(books.debt),
            books.fees,
            books.cash,
            books.accumulator,
            storedRate,
            block.timestamp
        );
    }

    function _assets(Books memory books) internal pure returns (uint256) {
        return books.cash + EulerMath.debtUp(books.debt);
    }

    function _toAssets(Books memory books, uint256 shares) internal pure returns (uint256) {
        return shares * (_assets(books) + VIRTUAL_DEPOSIT) / (books.shares + VIRTUAL_DEPOSIT);
    }

    function _toShares(Books memory books, uint256 assets) internal pure returns (uint256) {
        return assets * (books.shares + VIRTUAL_DEPOSIT) / (_assets(books) + VIRTUAL_DEPOSIT);
    }

    function _toSharesUp(Books memory books, uint256 assets) internal pure returns (uint256) {
        uint256 total = _assets(books) + VIRTUAL_DEPOSIT;
        return (assets * (books.shares + VIRTUAL_DEPOSIT) + total - 1) / total;
    }
}
