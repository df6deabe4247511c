// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {AerodromeGauge} from "./AerodromeGauge.sol";

interface IRewardToken {
    function mint(address to, uint256 value) external;
    function approve(address spender, uint256 value) external returns (bool);
}

/// Receives a pool's staked fees or bribes.
contract AerodromeVotingReward {}

/// Makes gauges and hands out rewards, without the voting: events and getters of Aerodrome's voter.
contract AerodromeVoter {
    address public immutable governor = msg.sender;
    address public immutable rewardToken;
    mapping(address => address) public gauges;
    mapping(address => address) public poolForGauge;
    mapping(address => bool) public isGauge;
    mapping(address => bool) public isAlive;
    mapping(address => address) public gaugeToFees;
    mapping(address => address) public gaugeToBribe;
    address[] public pools;

    event GaugeCreated(
        address indexed poolFactory,
        address indexed votingRewardsFactory,
        address indexed gaugeFactory,
        address pool,
        address bribeVotingReward,
        address feeVotingReward,
        address gauge,
        address creator
    );
    event GaugeKilled(address indexed gauge);
    event GaugeRevived(address indexed gauge);
    event DistributeReward(address indexed sender, address indexed gauge, uint256 amount);

    constructor(address rewardToken_) {
        rewardToken = rewardToken_;
    }

    modifier onlyGovernor() {
        require(msg.sender == governor, "NotGovernor");
        _;
    }

    function length() external view returns (uint256) {
        return pools.length;
    }

    function createGauge(address poolFactory, address pool) external returns (address gauge) {
        require(gauges[pool] == address(0), "GaugeExists");
        address fees = address(new AerodromeVotingReward());
        address bribe = address(new AerodromeVotingReward());
        gauge = address(new AerodromeGauge(pool, rewardToken, fees, governor));
        gauges[pool] = gauge;
        poolForGauge[gauge] = pool;
        gaugeToFees[gauge] = fees;
        gaugeToBribe[gauge] = bribe;
        isGauge[gauge] = true;
        isAlive[gauge] = true;
        pools.push(pool);
        emit GaugeCreated(poolFactory, address(this), address(this), pool, bribe, fees, gauge, msg.sender);
    }

    function killGauge(address gauge) external onlyGovernor {
        require(isAlive[gauge], "GaugeAlreadyKilled");
        isAlive[gauge] = false;
        emit GaugeKilled(gauge);
    }

    function reviveGauge(address gauge) external onlyGovernor {
        require(isGauge[gauge] && !isAlive[gauge], "GaugeAlreadyRevived");
        isAlive[gauge] = true;
        emit GaugeRevived(gauge);
    }

    /// Anybody may have rewards made and paid to a gauge.
    function distribute(address gauge, uint256 amount) external {
        require(isAlive[gauge], "GaugeNotAlive");
        IRewardToken(rewardToken).mint(address(this), amount);
        IRewardToken(rewardToken).approve(gauge, amount);
        AerodromeGauge(gauge).notifyRewardAmount(amount);
        emit DistributeReward(msg.sender, gauge, amount);
    }
}
