import { namedIntegers } from "../integers.ts";

/** A v2 pool's state from the events of the pool, its factory, the voter and its gauge. Amounts are raw units. */
export interface V2State {
  /** Of the last Sync. */
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  /** Of the LP token: Transfers from the zero address less those to it. */
  readonly totalSupply: bigint;
  /** Swap fee in ten-thousandths, as getFee() of the factory returns it: 30 is 0.3 %. */
  readonly fee: number;
  /** The fee without a custom fee, and whether there is one (fees.ts). */
  readonly defaultFee: number;
  readonly hasCustomFee: boolean;
  /**
   * Cumulative fees per LP token × 1e18, as index0() and index1() of the pool return them. Each Fees event adds
   * feeGrowth (metrics/v2-bucket.ts).
   */
  readonly index0: bigint;
  readonly index1: bigint;
  /** Fees of the last swap, or of the current one: Fees events come before their Swap. */
  readonly swapFee0: bigint;
  readonly swapFee1: bigint;
  readonly isSwapping: boolean;
  /** The gauge that the voter created for it; undefined without one. */
  readonly gauge: string | undefined;
  /** Whether the voter lets the gauge have deposits and rewards. */
  readonly isGaugeAlive: boolean;
  /** LP tokens in the gauge: Deposits less Withdraws. */
  readonly staked: bigint;
  /**
   * Raw reward tokens a second, paid out until periodFinish (Unix seconds), as the gauge's getters return them after
   * NotifyReward.
   */
  readonly rewardRate: bigint;
  readonly periodFinish: number;
}

export const EMPTY_V2_STATE: V2State = {
  reserve0: 0n,
  reserve1: 0n,
  totalSupply: 0n,
  fee: 0,
  defaultFee: 0,
  hasCustomFee: false,
  index0: 0n,
  index1: 0n,
  swapFee0: 0n,
  swapFee1: 0n,
  isSwapping: false,
  gauge: undefined,
  isGaugeAlive: false,
  staked: 0n,
  rewardRate: 0n,
  periodFinish: 0,
};

const NAMES = [
  "reserve0",
  "reserve1",
  "totalSupply",
  "fee",
  "defaultFee",
  "flags",
  "index0",
  "index1",
  "swapFee0",
  "swapFee1",
  "gauge",
  "staked",
  "rewardRate",
  "periodFinish",
] as const;
const text = namedIntegers(NAMES);
const CUSTOM = 1n;
const SWAPPING = 2n;
const ALIVE = 4n;

/** A state as text. The zero address stands for no gauge. */
export function writeV2State(state: V2State): string {
  return text.write({
    reserve0: state.reserve0,
    reserve1: state.reserve1,
    totalSupply: state.totalSupply,
    fee: BigInt(state.fee),
    defaultFee: BigInt(state.defaultFee),
    flags:
      (state.hasCustomFee ? CUSTOM : 0n) |
      (state.isSwapping ? SWAPPING : 0n) |
      (state.isGaugeAlive ? ALIVE : 0n),
    index0: state.index0,
    index1: state.index1,
    swapFee0: state.swapFee0,
    swapFee1: state.swapFee1,
    gauge: BigInt(state.gauge ?? 0),
    staked: state.staked,
    rewardRate: state.rewardRate,
    periodFinish: BigInt(state.periodFinish),
  });
}

export function readV2State(stored: string): V2State {
  const read = text.read(stored);
  return {
    reserve0: read.reserve0,
    reserve1: read.reserve1,
    totalSupply: read.totalSupply,
    fee: Number(read.fee),
    defaultFee: Number(read.defaultFee),
    hasCustomFee: (read.flags & CUSTOM) !== 0n,
    index0: read.index0,
    index1: read.index1,
    swapFee0: read.swapFee0,
    swapFee1: read.swapFee1,
    isSwapping: (read.flags & SWAPPING) !== 0n,
    gauge: read.gauge === 0n ? undefined : `0x${read.gauge.toString(16).padStart(40, "0")}`,
    isGaugeAlive: (read.flags & ALIVE) !== 0n,
    staked: read.staked,
    rewardRate: read.rewardRate,
    periodFinish: Number(read.periodFinish),
  };
}

/** The inputs of a pool's TVL and rewards, raw units as floats. */
export interface V2Holdings {
  readonly reserve0: number;
  readonly reserve1: number;
  readonly totalSupply: number;
  readonly hasGauge: boolean;
  readonly staked: number;
  readonly rewardRate: number;
  readonly periodFinish: number;
}

export function holdingsOf(state: V2State): V2Holdings {
  return {
    reserve0: Number(state.reserve0),
    reserve1: Number(state.reserve1),
    totalSupply: Number(state.totalSupply),
    hasGauge: state.gauge !== undefined,
    staked: Number(state.staked),
    rewardRate: Number(state.rewardRate),
    periodFinish: state.periodFinish,
  };
}

/** The same straight from the text, for lists: parsing whole states would take ten times as long. */
export function readV2Holdings(stored: string): V2Holdings {
  const parts = stored.split(" ");
  const at = (name: (typeof NAMES)[number]) => Number(`0x${parts[NAMES.indexOf(name)]}`);
  return {
    reserve0: at("reserve0"),
    reserve1: at("reserve1"),
    totalSupply: at("totalSupply"),
    hasGauge: parts[NAMES.indexOf("gauge")] !== "0",
    staked: at("staked"),
    rewardRate: at("rewardRate"),
    periodFinish: at("periodFinish"),
  };
}
