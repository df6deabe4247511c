// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {EulerLedger} from "./EulerLedger.sol";
import {EulerMath} from "./EulerMath.sol";

/// What a vault's governor decides: caps, LTVs, fee, rate model and hooks.
abstract contract EulerGovernance is EulerLedger {
    struct Ltv {
        uint16 borrowLTV;
        uint16 liquidationLTV;
        uint16 initialLiquidationLTV;
        uint48 targetTimestamp;
        uint32 rampDuration;
    }

    address public governorAdmin;
    address public feeReceiver;
    uint32 public configFlags;
    uint16 internal supplyCap;
    uint16 internal borrowCap;
    address private hookTarget;
    uint32 private hookedOps;
    address[] private collaterals;
    mapping(address => Ltv) private ltvs;

    event GovSetGovernorAdmin(address indexed newGovernorAdmin);
    event GovSetFeeReceiver(address indexed newFeeReceiver);
    event GovSetLTV(
        address indexed collateral,
        uint16 borrowLTV,
        uint16 liquidationLTV,
        uint16 initialLiquidationLTV,
        uint48 targetTimestamp,
        uint32 rampDuration
    );
    event GovSetInterestRateModel(address newInterestRateModel);
    event GovSetHookConfig(address indexed newHookTarget, uint32 newHookedOps);
    event GovSetConfigFlags(uint32 newConfigFlags);
    event GovSetCaps(uint16 newSupplyCap, uint16 newBorrowCap);
    event GovSetInterestFee(uint16 newFee);

    modifier onlyGovernor() {
        require(msg.sender == governorAdmin, "E_Unauthorized");
        _;
    }

    function caps() external view returns (uint16, uint16) {
        return (supplyCap, borrowCap);
    }

    function hookConfig() external view returns (address, uint32) {
        return (hookTarget, hookedOps);
    }

    /// Every collateral that ever had an LTV.
    function LTVList() public view returns (address[] memory) {
        return collaterals;
    }

    function LTVFull(address collateral) external view returns (uint16, uint16, uint16, uint48, uint32) {
        Ltv memory ltv = ltvs[collateral];
        return (
            ltv.borrowLTV,
            ltv.liquidationLTV,
            ltv.initialLiquidationLTV,
            ltv.targetTimestamp,
            ltv.rampDuration
        );
    }

    function LTVBorrow(address collateral) public view returns (uint16) {
        return ltvs[collateral].borrowLTV;
    }

    /// Goes down in a straight line after it was lowered.
    function LTVLiquidation(address collateral) public view returns (uint16) {
        Ltv memory ltv = ltvs[collateral];
        if (block.timestamp >= ltv.targetTimestamp || ltv.liquidationLTV >= ltv.initialLiquidationLTV)
            return ltv.liquidationLTV;
        uint256 above = ltv.initialLiquidationLTV - ltv.liquidationLTV;
        return uint16(ltv.liquidationLTV + above * (ltv.targetTimestamp - block.timestamp) / ltv.rampDuration);
    }

    function setLTV(address collateral, uint16 borrowLTV, uint16 liquidationLTV, uint32 rampDuration)
        external
        onlyGovernor
    {
        require(collateral != address(this), "E_InvalidLTVAsset");
        require(liquidationLTV <= EulerMath.SCALE && borrowLTV <= liquidationLTV, "E_LTVBorrow");
        uint16 current = LTVLiquidation(collateral);
        require(rampDuration == 0 || liquidationLTV < current, "E_LTVLiquidation");
        if (ltvs[collateral].targetTimestamp == 0) collaterals.push(collateral);
        uint48 target = uint48(block.timestamp + rampDuration);
        ltvs[collateral] = Ltv(borrowLTV, liquidationLTV, current, target, rampDuration);
        emit GovSetLTV(collateral, borrowLTV, liquidationLTV, current, target, rampDuration);
    }

    function setCaps(uint16 newSupplyCap, uint16 newBorrowCap) external onlyGovernor {
        supplyCap = newSupplyCap;
        borrowCap = newBorrowCap;
        emit GovSetCaps(newSupplyCap, newBorrowCap);
    }

    function setInterestFee(uint16 newFee) external onlyGovernor {
        _setInterestFee(newFee);
        emit GovSetInterestFee(newFee);
    }

    function setInterestRateModel(address newModel) external onlyGovernor {
        _setRateModel(newModel);
        emit GovSetInterestRateModel(newModel);
    }

    function setHookConfig(address newHookTarget, uint32 newHookedOps) external onlyGovernor {
        hookTarget = newHookTarget;
        hookedOps = newHookedOps;
        emit GovSetHookConfig(newHookTarget, newHookedOps);
    }

    function setConfigFlags(uint32 newConfigFlags) external onlyGovernor {
        configFlags = newConfigFlags;
        emit GovSetConfigFlags(newConfigFlags);
    }

    function setGovernorAdmin(address newGovernorAdmin) external onlyGovernor {
        governorAdmin = newGovernorAdmin;
        emit GovSetGovernorAdmin(newGovernorAdmin);
    }

    function setFeeReceiver(address newFeeReceiver) external onlyGovernor {
        feeReceiver = newFeeReceiver;
        emit GovSetFeeReceiver(newFeeReceiver);
    }

    function _isDisabled(uint32 operation) internal view returns (bool) {
        return hookedOps & operation != 0 && hookTarget == address(0);
    }

    /// A hooked operation asks its target first, and fails where there is none.
    function _callHook(uint32 operation, address caller) internal {
        if (hookedOps & operation == 0) return;
        require(hookTarget != address(0), "E_OperationDisabled");
        (bool agreed, ) = hookTarget.call(abi.encodePacked(msg.data, caller));
        require(agreed, "refused by hook");
    }
}
