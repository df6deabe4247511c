// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// A token that lies about balances and keeps a part of each transfer, as its maker pleases.
contract HostileToken {
    string public name = "Hostile";
    string public symbol = "HOST";
    uint8 public constant decimals = 18;
    uint256 public totalSupply;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => uint256) private _held;
    /// What balanceOf is multiplied with.
    uint256 public factor = 1;
    /// Part of each transfer that is burnt, in hundredths of a percent.
    uint256 public feeBps;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    function lie(uint256 factor_) external {
        factor = factor_;
    }

    function tax(uint256 feeBps_) external {
        feeBps = feeBps_;
    }

    function balanceOf(address account) external view returns (uint256) {
        return _held[account] * factor;
    }

    function mint(address to, uint256 value) external {
        totalSupply += value;
        _held[to] += value;
        emit Transfer(address(0), to, value);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        _move(from, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) private {
        uint256 burnt = value * feeBps / 10_000;
        _held[from] -= value;
        _held[to] += value - burnt;
        totalSupply -= burnt;
        emit Transfer(from, to, value - burnt);
    }
}
