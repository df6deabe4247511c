// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

interface ICollateral {
    function seize(address from, address to, uint256 shares) external;
}

/// Knows which vault each account owes to, as the Ethereum Vault Connector does: that one may stop it from taking
/// collateral out, and may take collateral away. Numbers the vaults of each asset, too.
contract EulerConnector {
    struct BatchItem {
        address targetContract;
        address onBehalfOfAccount;
        uint256 value;
        bytes data;
    }

    struct BatchItemResult {
        bool success;
        bytes result;
    }

    struct StatusCheckResult {
        address checkedAddress;
        bool isValid;
        bytes result;
    }

    error EVC_RevertedBatchResult(
        BatchItemResult[] batchItemsResult,
        StatusCheckResult[] accountsStatusResult,
        StatusCheckResult[] vaultsStatusResult
    );

    mapping(address => address) public controllerOf;
    /// Whom the connector calls for, within a batch.
    address public account;
    mapping(string => uint256) private numbers;

    function reserve(string calldata symbol) external returns (uint256) {
        return ++numbers[symbol];
    }

    function enableController(address owner, address vault) external {
        require(msg.sender == owner, "EVC_NotAuthorized");
        address current = controllerOf[owner];
        require(current == address(0) || current == vault, "EVC_ControllerViolation");
        controllerOf[owner] = vault;
    }

    function disableController(address owner) external {
        require(msg.sender == controllerOf[owner], "EVC_NotAuthorized");
        delete controllerOf[owner];
    }

    /// Tries calls in one go, of the connector itself or of vaults, by and for the caller, and undoes them. The vaults here
    /// check their status within each call: no checks are left for the end.
    function batchSimulation(BatchItem[] calldata items)
        external
        payable
        returns (BatchItemResult[] memory results, StatusCheckResult[] memory, StatusCheckResult[] memory)
    {
        (, bytes memory tried) = address(this).delegatecall(abi.encodeCall(this.batchRevert, items));
        bytes4 selector = bytes4(tried);
        require(selector == EVC_RevertedBatchResult.selector, "EVC_BatchPanic");
        bytes memory encoded = new bytes(tried.length - 4);
        for (uint256 i; i < encoded.length; ++i) encoded[i] = tried[i + 4];
        return abi.decode(encoded, (BatchItemResult[], StatusCheckResult[], StatusCheckResult[]));
    }

    function batchRevert(BatchItem[] calldata items) external payable {
        BatchItemResult[] memory results = new BatchItemResult[](items.length);
        for (uint256 i; i < items.length; ++i) {
            BatchItem calldata item = items[i];
            if (item.targetContract == address(this)) {
                require(item.onBehalfOfAccount == address(0), "EVC_InvalidAddress");
                (results[i].success, results[i].result) = address(this).delegatecall(item.data);
            } else {
                require(item.onBehalfOfAccount == msg.sender, "EVC_NotAuthorized");
                account = msg.sender;
                (results[i].success, results[i].result) = item.targetContract.call{value: item.value}(item.data);
                account = address(0);
            }
        }
        revert EVC_RevertedBatchResult(results, new StatusCheckResult[](0), new StatusCheckResult[](0));
    }

    function controlCollateral(address collateral, address from, address to, uint256 shares) external {
        require(msg.sender == controllerOf[from], "EVC_NotAuthorized");
        ICollateral(collateral).seize(from, to, shares);
    }
}
