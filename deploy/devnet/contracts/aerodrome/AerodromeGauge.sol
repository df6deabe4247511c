// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

interface ITransferable {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface IPoolWithFees is ITransferable {
    function tokens() external view returns (address, address);
    function claimFees() external returns (uint256, uint256);
}

interface ILife {
    function isAlive(address gauge) external view returns (bool);
}

/// Pays rewards to staked LP tokens by the second until the end of the week (Thursday, 00:00 UTC), and collects their
/// fees in exchange: events, getters and arithmetic of Aerodrome v2's gauge.
contract AerodromeGauge {
    uint256 private constant WEEK = 7 days;
    uint256 private constant PRECISION = 1e18;

    address public immutable stakingToken;
    address public immutable rewardToken;
    address public immutable feesVotingReward;
    address public immutable voter = msg.sender;
    address public immutable team;
    bool public constant isPool = true;

    uint256 public periodFinish;
    uint256 public rewardRate;
    uint256 public lastUpdateTime;
    uint256 public rewardPerTokenStored;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => uint256) public userRewardPerTokenPaid;
    mapping(address => uint256) public rewards;
    mapping(uint256 => uint256) public rewardRateByEpoch;
    uint256 public fees0;
    uint256 public fees1;

    event Deposit(address indexed from, address indexed to, uint256 amount);
    event Withdraw(address indexed from, uint256 amount);
    event NotifyReward(address indexed from, uint256 amount);
    event ClaimFees(address indexed from, uint256 claimed0, uint256 claimed1);
    event ClaimRewards(address indexed from, uint256 amount);

    constructor(address stakingToken_, address rewardToken_, address feesVotingReward_, address team_) {
        stakingToken = stakingToken_;
        rewardToken = rewardToken_;
        feesVotingReward = feesVotingReward_;
        team = team_;
    }

    function deposit(uint256 amount) external {
        _deposit(amount, msg.sender);
    }

    function deposit(uint256 amount, address recipient) external {
        _deposit(amount, recipient);
    }

    function withdraw(uint256 amount) external {
        _updateRewards(msg.sender);
        totalSupply -= amount;
        balanceOf[msg.sender] -= amount;
        ITransferable(stakingToken).transfer(msg.sender, amount);
        emit Withdraw(msg.sender, amount);
    }

    function getReward(address account) external {
        require(msg.sender == account || msg.sender == voter, "NotAuthorized");
        _updateRewards(account);
        uint256 reward = rewards[account];
        if (reward == 0) return;
        rewards[account] = 0;
        ITransferable(rewardToken).transfer(account, reward);
        emit ClaimRewards(account, reward);
    }

    function notifyRewardAmount(uint256 amount) external {
        require(msg.sender == voter, "NotVoter");
        _claimFees();
        _notify(amount);
    }

    function notifyRewardWithoutClaim(uint256 amount) external {
        require(msg.sender == team, "NotTeam");
        _notify(amount);
    }

    function lastTimeRewardApplicable() public view returns (uint256) {
        return block.timestamp < periodFinish ? block.timestamp : periodFinish;
    }

    function rewardPerToken() public view returns (uint256) {
        if (totalSupply == 0) return rewardPerTokenStored;
        uint256 elapsed = lastTimeRewardApplicable() - lastUpdateTime;
        return rewardPerTokenStored + (elapsed * rewardRate * PRECISION) / totalSupply;
    }

    function earned(address account) public view returns (uint256) {
        uint256 grown = rewardPerToken() - userRewardPerTokenPaid[account];
        return (balanceOf[account] * grown) / PRECISION + rewards[account];
    }

    /// Rewards not paid out yet.
    function left() public view returns (uint256) {
        return block.timestamp >= periodFinish ? 0 : (periodFinish - block.timestamp) * rewardRate;
    }

    function _deposit(uint256 amount, address recipient) private {
        require(amount > 0, "ZeroAmount");
        require(ILife(voter).isAlive(address(this)), "NotAlive");
        _updateRewards(recipient);
        require(ITransferable(stakingToken).transferFrom(msg.sender, address(this), amount), "transfer refused");
        totalSupply += amount;
        balanceOf[recipient] += amount;
        emit Deposit(msg.sender, recipient, amount);
    }

    function _updateRewards(address account) private {
        rewardPerTokenStored = rewardPerToken();
        lastUpdateTime = lastTimeRewardApplicable();
        rewards[account] = earned(account);
        userRewardPerTokenPaid[account] = rewardPerTokenStored;
    }

    /// A week's rewards run from the moment they are announced to the week's end, on top of what is left of it.
    function _notify(uint256 amount) private {
        require(amount > 0, "ZeroAmount");
        rewardPerTokenStored = rewardPerToken();
        uint256 weekStart = block.timestamp - (block.timestamp % WEEK);
        uint256 untilNext = weekStart + WEEK - block.timestamp;
        uint256 leftover = left();
        require(ITransferable(rewardToken).transferFrom(msg.sender, address(this), amount), "transfer refused");
        rewardRate = (amount + leftover) / untilNext;
        rewardRateByEpoch[weekStart] = rewardRate;
        require(rewardRate > 0, "ZeroRewardRate");
        require(rewardRate <= ITransferable(rewardToken).balanceOf(address(this)) / untilNext, "RewardRateTooHigh");
        lastUpdateTime = block.timestamp;
        periodFinish = block.timestamp + untilNext;
        emit NotifyReward(msg.sender, amount);
    }

    function _claimFees() private {
        (uint256 claimed0, uint256 claimed1) = IPoolWithFees(stakingToken).claimFees();
        if (claimed0 == 0 && claimed1 == 0) return;
        (address token0, address token1) = IPoolWithFees(stakingToken).tokens();
        fees0 = _passOn(token0, fees0 + claimed0);
        fees1 = _passOn(token1, fees1 + claimed1);
        emit ClaimFees(msg.sender, claimed0, claimed1);
    }

    /// Too small a sum to make a rate of is kept for the next time.
    function _passOn(address token, uint256 amount) private returns (uint256 kept) {
        if (amount <= WEEK) return amount;
        ITransferable(token).transfer(feesVotingReward, amount);
        return 0;
    }
}
