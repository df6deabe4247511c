import { encodeCall, readBool, readInt, readUint } from "../../../shared/evm/abi.ts";
import type { EthCall, Hex } from "../../../shared/evm/port.ts";
import type { LpPosition } from "../../metrics/lp-position.ts";
import type { DefaultFeeCalls, FeeTier, GaugeFacts, PoolFacts } from "../protocol.ts";
import { EMPTY_V2_STATE, type V2State } from "./state.ts";

const GET_RESERVES = encodeCall("0x0902f1ac");
const TOTAL_SUPPLY = encodeCall("0x18160ddd");
const INDEX0 = encodeCall("0x32c0defd");
const INDEX1 = encodeCall("0xbda39cad");
const REWARD_RATE = encodeCall("0x7b0a47ee");
const PERIOD_FINISH = encodeCall("0xebe2b12b");
const GET_FEE = "0xcc56b2c5";
const CUSTOM_FEE = "0x4d419abc";
const STABLE_FEE = encodeCall("0x40bbd775");
const VOLATILE_FEE = encodeCall("0x5084ed03");
const IS_ALIVE = "0x1703e5f9";
const BALANCE_OF = "0x70a08231";
/** Hundredths of a bip in the factory's unit of fees. */
const BIP = 100;

type ReturnData = Hex | null | undefined;

/**
 * Calls of getReserves, totalSupply, index0 and index1 of the pool; getFee, customFee and the default fee of its
 * factory; stake and rewards of its gauge.
 */
export function v2AnchorCalls(pool: PoolFacts, block: number, gauge?: GaugeFacts): EthCall[] {
  const to = pool.poolAddress as Hex;
  const factory = pool.dexAddress as Hex;
  return [
    { to, data: GET_RESERVES, block },
    { to, data: TOTAL_SUPPLY, block },
    { to, data: INDEX0, block },
    { to, data: INDEX1, block },
    { to: factory, data: encodeCall(GET_FEE, [to, pool.stable]), block },
    { to: factory, data: encodeCall(CUSTOM_FEE, [to]), block },
    { to: factory, data: pool.stable ? STABLE_FEE : VOLATILE_FEE, block },
    ...(gauge === undefined ? [] : gaugeCalls(gauge, block)),
  ];
}

function gaugeCalls({ gauge, voter }: GaugeFacts, block: number): EthCall[] {
  const to = gauge as Hex;
  return [
    { to, data: TOTAL_SUPPLY, block },
    { to, data: REWARD_RATE, block },
    { to, data: PERIOD_FINISH, block },
    { to: voter as Hex, data: encodeCall(IS_ALIVE, [to]), block },
  ];
}

/**
 * Undefined where the pool's calls fail: no node has that state. A factory or gauge whose calls fail counts as
 * absent.
 */
export function readV2Anchor(results: readonly ReturnData[], gauge?: GaugeFacts): V2State | undefined {
  const [reserves, totalSupply, index0, index1, fee, customFee, defaultFee, ...ofGauge] = results;
  if (!hasWords(reserves, 2) || !hasWords(totalSupply) || !hasWords(index0) || !hasWords(index1)) {
    return undefined;
  }
  return {
    ...EMPTY_V2_STATE,
    reserve0: readUint(reserves, 0),
    reserve1: readUint(reserves, 1),
    totalSupply: readUint(totalSupply, 0),
    index0: readUint(index0, 0),
    index1: readUint(index1, 0),
    fee: hasWords(fee) ? readInt(fee, 0) : 0,
    defaultFee: hasWords(defaultFee) ? readInt(defaultFee, 0) : 0,
    hasCustomFee: hasWords(customFee) && readUint(customFee, 0) !== 0n,
    ...(gauge === undefined ? {} : readGauge(ofGauge, gauge)),
  };
}

function readGauge(results: readonly ReturnData[], { gauge }: GaugeFacts): Partial<V2State> {
  const [staked, rewardRate, periodFinish, isAlive] = results;
  return {
    gauge,
    staked: hasWords(staked) ? readUint(staked, 0) : 0n,
    rewardRate: hasWords(rewardRate) ? readUint(rewardRate, 0) : 0n,
    periodFinish: hasWords(periodFinish) ? readInt(periodFinish, 0) : 0,
    isGaugeAlive: hasWords(isAlive) && readBool(isAlive, 0),
  };
}

/**
 * The state as the getters of the pool, its factory and its gauge return it, for audits. The fee only where the pool
 * has one of its own: a changed default reaches a state with the pool's next swap (views/v2-fee.ts).
 */
export function v2AuditValues(state: V2State): Record<string, bigint | number> {
  const { reserve0, reserve1, totalSupply, index0, index1, staked, rewardRate, periodFinish } = state;
  const own = { hasCustomFee: Number(state.hasCustomFee), customFee: state.hasCustomFee ? state.fee : 0 };
  return { reserve0, reserve1, totalSupply, index0, index1, ...own, staked, rewardRate, periodFinish };
}

/** The default fee of either curve, which the factory's manager may change. */
export const v2Tier: FeeTier = {
  unit: BIP,
  mayChange: true,
  call: ({ stable }, { factory, block }) => ({
    to: factory as Hex,
    data: stable === true ? STABLE_FEE : VOLATILE_FEE,
    block,
  }),
};

/** The default fees of both curves: volatileFee() and stableFee() of the factory, which setFee changes without an event. */
export const v2DefaultFeeCalls: DefaultFeeCalls = (factory, block) => [
  { to: factory as Hex, data: VOLATILE_FEE, block },
  { to: factory as Hex, data: STABLE_FEE, block },
];

/** The state of a new pool: only its default fee is set. */
export function initialV2State({ fee }: Pick<PoolFacts, "fee">): V2State {
  return { ...EMPTY_V2_STATE, fee: fee / BIP, defaultFee: fee / BIP };
}

export function v2SupplyCall(poolAddress: string, block: number): EthCall {
  return { to: poolAddress as Hex, data: TOTAL_SUPPLY, block };
}

export function v2PositionCalls(
  wallet: string,
  { state, pool, block }: { state: V2State; pool: Pick<PoolFacts, "poolAddress">; block: number },
): EthCall[] {
  const data = encodeCall(BALANCE_OF, [wallet as Hex]);
  const { gauge } = state;
  const holders = gauge === undefined ? [pool.poolAddress] : [pool.poolAddress, gauge];
  return holders.map((to) => ({ to: to as Hex, data, block }));
}

/** Earnings count from the first indexed block: from the pool's indexes there. */
export function readV2Position(results: readonly ReturnData[], pool: V2State): LpPosition {
  const [balance, staked] = results;
  return {
    balance: hasWords(balance) ? readUint(balance, 0) : 0n,
    staked: hasWords(staked) ? readUint(staked, 0) : 0n,
    index0: pool.index0,
    index1: pool.index1,
    earned0: 0n,
    earned1: 0n,
  };
}

function hasWords(result: ReturnData, count = 1): result is Hex {
  return typeof result === "string" && result.length >= 2 + 64 * count;
}
