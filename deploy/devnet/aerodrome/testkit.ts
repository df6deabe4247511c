import type { Hex, PublicClient } from "viem";
import { aerodromePoolAbi, aerodromePoolAddresses } from "../contracts/aerodrome/abi.ts";
import type { Rpc } from "../node/rpc.ts";
import { type Address, sendTransactions, type Transaction } from "../node/transactions.ts";
import type { AerodromeDeployment, AerodromePool } from "./deploy.ts";
import { randomAerodromeTransactions } from "./random-transactions.ts";
import { type AerodromeReader, createAerodromeReader } from "./reader.ts";
import { aerodromeTransactions as make } from "./transactions.ts";

interface From {
  /** One of the chain's accounts; absent = the first provider of the pools. */
  readonly from?: Address;
}

/**
 * Aerodrome on a test chain. Each verb queues one transaction and answers its hash (an approval goes before it where
 * one is missing); amounts are raw. Nothing is mined.
 */
export interface AerodromeKit extends AerodromeReader {
  readonly deployment: AerodromeDeployment;
  readonly pools: readonly AerodromePool[];
  /** Accounts with LP tokens, most of the first, some of them staked. */
  readonly providers: readonly Address[];
  /** Answers the address that the pool will have, too. */
  createPool(
    key: { tokenA: Address; tokenB: Address; stable: boolean },
    options?: From,
  ): Promise<{ hash: Hex; address: Address }>;
  createGauge(pool: Address, options?: From): Promise<Hex>;
  setGaugeAlive(gauge: Address, alive: boolean): Promise<Hex>;
  /** Hundredths of a percent; 0 = the factory's fee again, 420 = no fee. */
  setCustomFee(pool: Address, fee: number): Promise<Hex>;
  swap(pool: Address, swap: { zeroForOne: boolean; amountIn: bigint } & From): Promise<Hex>;
  /** Pays both tokens in: fees on both sides. Fails where the amounts out are too much. */
  swapBoth(
    pool: Address,
    swap: { amountsIn: [bigint, bigint]; amountsOut: [bigint, bigint] } & From,
  ): Promise<Hex>;
  addLiquidity(pool: Address, amounts: [bigint, bigint], options?: From): Promise<Hex>;
  removeLiquidity(pool: Address, liquidity: bigint, options?: From): Promise<Hex>;
  transferLp(pool: Address, transfer: { to: Address; amount: bigint } & From): Promise<Hex>;
  claimFees(pool: Address, options?: From): Promise<Hex>;
  /** The recipient, absent = the sender, owns what is staked. */
  stake(gauge: Address, stake: { amount: bigint; recipient?: Address } & From): Promise<Hex>;
  unstake(gauge: Address, amount: bigint, options?: From): Promise<Hex>;
  claimRewards(gauge: Address, options?: From): Promise<Hex>;
  /** Pays rewards to a gauge by the voter: ClaimFees where there are some, NotifyReward. */
  notifyReward(gauge: Address, amount: bigint, options?: From): Promise<Hex>;
  /** Random ones of all kinds that never fail, for `sendTransactions` and for what a reorg puts in. */
  randomTransactions(seed: number, count: number): Transaction[];
}

export function createAerodromeKit(options: {
  rpc: Rpc;
  client: PublicClient;
  deployment: AerodromeDeployment;
}): AerodromeKit {
  const { rpc, client, deployment } = options;
  const { factory, voter, desk, owner, providers, pools, implementation } = deployment;
  const someone = providers[0] as Address;
  const addressOf = aerodromePoolAddresses(factory, implementation);
  const reader = createAerodromeReader(client, deployment);
  const send = async (...transactions: Transaction[]) =>
    (await sendTransactions(rpc, transactions)).at(-1) as Hex;

  /** With what is queued counted in. */
  async function approvals(
    pool: Address,
    { from, spender }: { from: Address; spender: Address },
  ): Promise<Transaction[]> {
    const read = {
      address: pool,
      abi: aerodromePoolAbi,
      functionName: "allowance",
      blockTag: "pending",
    } as const;
    const allowed = await client.readContract({ ...read, args: [from, spender] });
    return allowed > 0n ? [] : [make.approve(from, pool, spender)];
  }

  async function stakedIn(gauge: Address): Promise<Address> {
    const known = pools.find((pool) => pool.gauge === gauge.toLowerCase());
    return known ? known.address : reader.stakingToken(gauge);
  }

  return {
    ...reader,
    deployment,
    pools,
    providers,
    async createPool(key, { from = someone } = {}) {
      return { hash: await send(make.createPool(from, factory, key)), address: addressOf(key) };
    },
    createGauge: (pool, { from = someone } = {}) => send(make.createGauge(from, voter, { factory, pool })),
    setGaugeAlive: (gauge, alive) => send(make.setGaugeAlive(owner, voter, { gauge, alive })),
    setCustomFee: (pool, fee) => send(make.setCustomFee(owner, factory, { pool, fee })),
    swap: (pool, { from = someone, ...swap }) => send(make.swap(from, desk, { pool, ...swap })),
    swapBoth: (pool, { from = someone, ...swap }) => send(make.swapBoth(from, desk, { pool, ...swap })),
    addLiquidity: (pool, amounts, { from = someone } = {}) =>
      send(make.addLiquidity(from, desk, { pool, amounts })),
    removeLiquidity: async (pool, liquidity, { from = someone } = {}) =>
      send(
        ...(await approvals(pool, { from, spender: desk })),
        make.removeLiquidity(from, desk, { pool, liquidity }),
      ),
    transferLp: (pool, { from = someone, ...transfer }) => send(make.transfer(from, pool, transfer)),
    claimFees: (pool, { from = someone } = {}) => send(make.claimFees(from, pool)),
    stake: async (gauge, { from = someone, ...stake }) =>
      send(
        ...(await approvals(await stakedIn(gauge), { from, spender: gauge })),
        make.stake(from, gauge, stake),
      ),
    unstake: (gauge, amount, { from = someone } = {}) => send(make.unstake(from, gauge, amount)),
    claimRewards: (gauge, { from = someone } = {}) => send(make.claimRewards(from, gauge)),
    notifyReward: (gauge, amount, { from = someone } = {}) =>
      send(make.distribute(from, voter, { gauge, amount })),
    randomTransactions: (seed, count) => randomAerodromeTransactions(deployment, { seed, count }),
  };
}
