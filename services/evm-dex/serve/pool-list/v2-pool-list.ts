import type { RowText } from "../../../shared/contract/endpoint.ts";
import { swapFeeApr, totalApr } from "../../metrics/v2-apr.ts";
import { feesUsdOf, volumeUsdOf } from "../../metrics/v2-bucket.ts";
import { completedDays, hoursUpTo, v2NumbersOf } from "../../metrics/v2-window.ts";
import type { Window } from "../../metrics/window.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { type RewardTokens, type TokenFacts, valueV2Pool } from "../../views/v2-facts.ts";
import type { V2HeadState, V2HeadTable } from "./v2-head-table.ts";
import { TABLE_DAYS, type V2Entry } from "./v2-pool-table.ts";

interface V2PoolPage {
  readonly limit: number;
  readonly offset: number;
}

export type V2PoolListRow = ReturnType<typeof rowOf>;

/** The list of a chain's v2 pools, the youngest first. */
export class V2PoolList {
  readonly #table: V2HeadTable;
  readonly #rewards: RewardTokens;
  readonly #render: (row: V2PoolListRow) => RowText;
  /** Rows requested at one head, by their position in the list. */
  #rendered: { readonly state: V2HeadState; readonly rows: RowText[] } | undefined;

  constructor(
    table: V2HeadTable,
    { rewards, render }: { rewards: RewardTokens; render: (row: V2PoolListRow) => RowText },
  ) {
    this.#table = table;
    this.#rewards = rewards;
    this.#render = render;
  }

  /** A page at one block; undefined where nothing is indexed yet. */
  async read(
    page: V2PoolPage,
  ): Promise<{ rows: RowText[]; total: number; checkpoint: CheckpointRow } | undefined> {
    const state = await this.#table.read();
    if (state === undefined) return undefined;
    if (this.#rendered?.state !== state) this.#rendered = { state, rows: [] };
    const { rows } = this.#rendered;
    const { checkpoint, table } = state;
    const at = createRowContext(state, this.#rewards);
    const end = Math.min(page.offset + page.limit, table.list.length);
    for (let i = page.offset; i < end; i++) rows[i] ??= this.#render(rowOf(table.list[i] as V2Entry, at));
    return { rows: rows.slice(page.offset, end), total: table.list.length, checkpoint };
  }
}

/** Inputs that all rows of a response share. */
interface RowContext {
  readonly now: number;
  readonly indexedFrom: number;
  readonly lastDay: Window;
  readonly week: Window;
  readonly tokens: TokenFacts;
  readonly rewards: RewardTokens;
}

function createRowContext({ checkpoint, tokens }: V2HeadState, rewards: RewardTokens): RowContext {
  const now = checkpoint.blockTime;
  return {
    now,
    indexedFrom: checkpoint.fromTime,
    lastDay: hoursUpTo(now, 24),
    week: completedDays(now, TABLE_DAYS),
    tokens,
    rewards,
  };
}

/** Written out: spreading objects would cost more than the rest of the row. */
function rowOf({ pool, holdings, hours, days }: V2Entry, at: RowContext) {
  const coverage = { createdAt: pool.createdAt, indexedFrom: at.indexedFrom };
  const lastDay = v2NumbersOf(hours, { window: at.lastDay, coverage });
  const week = v2NumbersOf(days, { window: at.week, coverage });
  const { tokens, now } = at;
  const worth =
    holdings && valueV2Pool(pool, { holdings, tokens, rewardToken: at.rewards.tokenOf(pool), now });
  const tvlUsd = worth === undefined ? null : worth.tvlUsd;
  const rewardApr7d = worth === undefined ? null : worth.rewardApr;
  const fees7dUsd = week === undefined ? null : feesUsdOf(week);
  const swapFeeApr7d = swapFeeApr(fees7dUsd, { days: TABLE_DAYS, tvlUsd });
  return {
    poolId: pool.poolAddress,
    token0: pool.token0Address,
    token0Symbol: pool.token0Symbol,
    token0Decimals: pool.token0Decimals,
    token1: pool.token1Address,
    token1Symbol: pool.token1Symbol,
    token1Decimals: pool.token1Decimals,
    poolTvlUsd: tvlUsd,
    volume24hUsd: lastDay === undefined ? null : volumeUsdOf(lastDay),
    volume7dUsd: week === undefined ? null : volumeUsdOf(week),
    fees7dUsd,
    swapFeeApr7d,
    rewardApr7d,
    totalApr7d: totalApr(swapFeeApr7d, rewardApr7d),
  };
}
