// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

/// A list of vaults with the events and getters of Euler's perspectives. One of Euler's own is changed by its owner
/// alone; anybody may add a vault to an open one, whose checks are left out.
contract EulerPerspective {
    address public immutable owner;
    bool public immutable open;
    mapping(address => uint256) private places;
    address[] private vaults;

    event PerspectiveVerified(address indexed vault);
    event PerspectiveUnverified(address indexed vault);

    constructor(bool open_) {
        owner = msg.sender;
        open = open_;
    }

    function perspectiveVerify(address vault, bool) external {
        require(open || msg.sender == owner, "OwnableUnauthorizedAccount");
        if (places[vault] != 0) return;
        vaults.push(vault);
        places[vault] = vaults.length;
        emit PerspectiveVerified(vault);
    }

    function perspectiveUnverify(address vault) external {
        require(msg.sender == owner, "OwnableUnauthorizedAccount");
        uint256 place = places[vault];
        if (place == 0) return;
        address last = vaults[vaults.length - 1];
        vaults[place - 1] = last;
        places[last] = place;
        vaults.pop();
        delete places[vault];
        emit PerspectiveUnverified(vault);
    }

    function isVerified(address vault) external view returns (bool) {
        return places[vault] != 0;
    }

    function verifiedLength() external view returns (uint256) {
        return vaults.length;
    }

    function verifiedArray() external view returns (address[] memory) {
        return vaults;
    }
}
