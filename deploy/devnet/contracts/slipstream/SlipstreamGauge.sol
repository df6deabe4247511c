// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

interface IStakingPool {
    function stake(int128 stakedLiquidityDelta, int24 tickLower, int24 tickUpper) external;
    function collectFees() external returns (uint128, uint128);
}

/// Stakes liquidity of a Slipstream pool: events of the original, whose positions are NFTs. Here a stake's number stands
/// for the NFT's, and the liquidity is the pool's `nft`, which on the devnet is the desk.
contract SlipstreamGauge {
    struct Stake {
        address owner;
        int24 lower;
        int24 upper;
        uint128 liquidity;
    }

    address public immutable pool;
    Stake[] public stakes;

    event Deposit(address indexed user, uint256 indexed tokenId, uint128 indexed liquidityToStake);
    event Withdraw(address indexed user, uint256 indexed tokenId, uint128 indexed liquidityToStake);
    event ClaimFees(address indexed from, uint256 claimed0, uint256 claimed1);

    constructor(address pool_) {
        pool = pool_;
    }

    function deposit(int24 lower, int24 upper, uint128 liquidity) external returns (uint256 tokenId) {
        tokenId = stakes.length;
        stakes.push(Stake(msg.sender, lower, upper, liquidity));
        IStakingPool(pool).stake(int128(liquidity), lower, upper);
        emit Deposit(msg.sender, tokenId, liquidity);
    }

    function withdraw(uint256 tokenId) external {
        Stake memory staked = stakes[tokenId];
        require(staked.owner == msg.sender && staked.liquidity > 0, "NA");
        stakes[tokenId].liquidity = 0;
        IStakingPool(pool).stake(-int128(staked.liquidity), staked.lower, staked.upper);
        emit Withdraw(msg.sender, tokenId, staked.liquidity);
    }

    /// Anybody may have the pool's fees brought here.
    function claimFees() external {
        (uint128 claimed0, uint128 claimed1) = IStakingPool(pool).collectFees();
        emit ClaimFees(msg.sender, claimed0, claimed1);
    }
}
