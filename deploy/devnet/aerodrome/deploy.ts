import {
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
} from "viem";
import { aerodromePoolAbi, aerodromePoolAddresses } from "../contracts/aerodrome/abi.ts";
import {
  aerodromeDesk,
  aerodromeFactory,
  aerodromePool,
  aerodromeVoter,
} from "../contracts/aerodrome/artifacts.ts";
import type { Rpc } from "../node/rpc.ts";
import { type Address, type Transaction, toHex } from "../node/transactions.ts";
import { CREATION_GAS, sortPair, type DeployedToken as Token, type Tokens } from "../pools.ts";
import { AERODROME_POOLS, type AerodromePoolSpec, PROVIDERS } from "./market.ts";
import { aerodromeTransactions as transactions } from "./transactions.ts";

export interface AerodromePool {
  readonly address: Address;
  readonly token0: Token;
  readonly token1: Token;
  readonly stable: boolean;
  readonly gauge?: Address;
  readonly spec: AerodromePoolSpec;
}

export interface AerodromeDeployment {
  /** Deployer, fee manager and governor. */
  readonly owner: Address;
  readonly implementation: Address;
  readonly factory: Address;
  readonly voter: Address;
  readonly desk: Address;
  /** Accounts that hold LP tokens of the pools and have approved desk and gauges. */
  readonly providers: readonly Address[];
  readonly pools: readonly AerodromePool[];
}

/** Where everything will be: follows from the owner, whose first transactions these are, and the tokens. */
export function planAerodrome(
  tokens: Tokens,
  { owner, providers }: { owner: Address; providers: readonly Address[] },
): AerodromeDeployment {
  const created = (from: Address, nonce: number) =>
    getContractAddress({ from, nonce: BigInt(nonce) }).toLowerCase() as Hex;
  const [implementation, factory, voter, desk] = [0, 1, 2, 3].map((nonce) => created(owner, nonce)) as [
    Hex,
    Hex,
    Hex,
    Hex,
  ];
  const addressOf = aerodromePoolAddresses(factory, implementation);
  let gauges = 0;
  const pools = AERODROME_POOLS.map((spec): AerodromePool => {
    const [token0, token1] = sortPair(tokens, spec);
    const address = addressOf({ tokenA: token0.address, tokenB: token1.address, stable: spec.stable });
    const pool = { address, token0, token1, stable: spec.stable, spec };
    // The voter makes three contracts for each gauge, the gauge last; its own nonces begin with 1.
    return spec.rewardUsdPerWeek === undefined ? pool : { ...pool, gauge: created(voter, 3 * ++gauges) };
  });
  return { owner, implementation, factory, voter, desk, providers, pools };
}

/** The contracts, which must be the owner's first transactions. */
export function aerodromeContracts(
  { owner: from, implementation }: AerodromeDeployment,
  tokens: { WETH: Token; AERO: Token },
): Transaction[] {
  const gas = CREATION_GAS;
  const desk = encodeDeployData({ ...aerodromeDesk, args: [tokens.WETH.address] });
  return [
    { from, gas, data: aerodromePool.bytecode },
    { from, gas, data: encodeDeployData({ ...aerodromeFactory, args: [implementation] }) },
    { from, gas, data: encodeDeployData({ ...aerodromeVoter, args: [tokens.AERO.address] }) },
    { from, gas, data: desk, value: toHex(10n ** 26n) },
  ];
}

export function aerodromePools({ owner, factory, voter, pools }: AerodromeDeployment): Transaction[] {
  return pools.flatMap(({ address, token0, token1, stable, gauge, spec }) => {
    const key = { tokenA: token0.address, tokenB: token1.address, stable };
    const made = [transactions.createPool(owner, factory, key)];
    if (spec.customFee !== undefined)
      made.push(transactions.setCustomFee(owner, factory, { pool: address, fee: spec.customFee }));
    if (gauge) made.push(transactions.createGauge(owner, voter, { factory, pool: address }));
    return made;
  });
}

/** Approvals and every provider's first deposit. */
export function aerodromeLiquidity({ desk, providers, pools }: AerodromeDeployment): Transaction[] {
  return pools.flatMap((pool) =>
    providers.flatMap((provider, i) => {
      const [share] = PROVIDERS[i] as (typeof PROVIDERS)[number];
      const spenders = pool.gauge ? [desk, pool.gauge] : [desk];
      return [
        ...spenders.map((spender) => transactions.approve(provider, pool.address, spender)),
        transactions.addLiquidity(provider, desk, {
          pool: pool.address,
          amounts: balancedAmounts(pool, pool.spec.depthUsd * share),
        }),
      ];
    }),
  );
}

/** What goes into the gauges first, and their first rewards. Reads the LP tokens that the deposits gave. */
export async function aerodromeStakes(
  rpc: Rpc,
  { owner, voter, providers, pools }: AerodromeDeployment,
  aeroUsd: number,
): Promise<Transaction[]> {
  const stakes: { provider: Address; pool: Address; gauge: Address; share: number }[] = [];
  for (const { address: pool, gauge } of pools) {
    for (const [i, provider] of providers.entries()) {
      const [, share] = PROVIDERS[i] as (typeof PROVIDERS)[number];
      if (gauge && share > 0) stakes.push({ provider, pool, gauge, share });
    }
  }
  const abi = aerodromePoolAbi;
  const balances = await rpc.batch<Hex>(
    stakes.map(({ provider, pool }) => {
      const data = encodeFunctionData({ abi, functionName: "balanceOf", args: [provider] });
      return { method: "eth_call", params: [{ to: pool, data }, "latest"] };
    }),
  );
  const staked = stakes.map(({ provider, gauge, share }, i) => {
    const balance = decodeFunctionResult({ abi, functionName: "balanceOf", data: balances[i] as Hex });
    return transactions.stake(provider, gauge, {
      amount: (balance * BigInt(Math.round(share * 100))) / 100n,
    });
  });
  const rewarded = pools.flatMap(({ gauge, spec }) => {
    if (!gauge || !spec.rewardUsdPerWeek) return [];
    const amount = BigInt(Math.round(spec.rewardUsdPerWeek / aeroUsd)) * 10n ** 18n;
    return [transactions.distribute(owner, voter, { gauge, amount })];
  });
  return [...staked, ...rewarded];
}

/** Raw amounts of `usdPerSide` each at the tokens' starting prices; on a stable pool equal to the last digit, as its first deposit must be. */
export function balancedAmounts({ token0, token1 }: AerodromePool, usdPerSide: number): [bigint, bigint] {
  const raw = ({ usd, decimals }: Token) =>
    BigInt(Math.round((usdPerSide / usd) * 10 ** 4)) * 10n ** BigInt(decimals - 4);
  return [raw(token0), raw(token1)];
}
