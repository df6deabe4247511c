// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

interface IToken {
    function transfer(address to, uint256 value) external returns (bool);
    function mint(address to, uint256 value) external;
    function deposit() external payable;
}

/// Pays with tokens it makes when it has none: missing tokens are minted, missing wrapped ether is deposited from its own
/// ether. So those who trade through it need neither balances nor approvals.
abstract contract Payer {
    address private immutable wrappedEther;

    constructor(address wrappedEther_) {
        wrappedEther = wrappedEther_;
    }

    receive() external payable {}

    function _pay(address token, address to, uint256 amount) internal {
        try IToken(token).transfer(to, amount) returns (bool) {} catch {
            // Far more than is missing: most payments then need no minting.
            if (token == wrappedEther) IToken(token).deposit{value: amount * 10}();
            else IToken(token).mint(address(this), amount * 10);
            require(IToken(token).transfer(to, amount), "transfer refused");
        }
    }
}
