// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

interface IDebtVault {
    function debtOf(address account) external view returns (uint256);
    function totalBorrows() external view returns (uint256);
}

/// A vault's debts as a token that only tells.
contract EulerDebtToken {
    address public immutable vault;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor() {
        vault = msg.sender;
    }

    function balanceOf(address account) external view returns (uint256) {
        return IDebtVault(vault).debtOf(account);
    }

    function totalSupply() external view returns (uint256) {
        return IDebtVault(vault).totalBorrows();
    }

    function emitTransfer(address from, address to, uint256 value) external {
        require(msg.sender == vault, "E_Unauthorized");
        emit Transfer(from, to, value);
    }
}
