// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// A hook target of vaults that refuses some functions to all but one account.
contract EulerHook {
    mapping(bytes4 => bool) public refused;
    address public admitted;

    function setRefused(bytes4 selector, bool isRefused) external {
        refused[selector] = isRefused;
    }

    function admit(address account) external {
        admitted = account;
    }

    /// The vault puts the account behind what it was called with.
    fallback(bytes calldata data) external returns (bytes memory) {
        address account = address(bytes20(data[data.length - 20:]));
        require(!refused[bytes4(data[:4])] || account == admitted, "not admitted");
        return "";
    }
}
