import type { RowText } from "../../../shared/contract/endpoint.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { swapFeeApr, totalApr } from "../../metrics/v2-apr.ts";
import { feesUsdOf, volumeUsdOf } from "../../metrics/v2-bucket.ts";
import { completedDays, hoursUpTo, v2NumbersOf } from "../../metrics/v2-window.ts";
import type { Window } from "../../metrics/window.ts";
import { priceFrom, type TokenPrice } from "../../price/link.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { getTokens } from "../../store/queries.ts";
import { type RewardTokens, type TokenFacts, valueV2Pool } from "../../views/v2-facts.ts";
import { readAtHead } from "../head.ts";
import {
  isCurrent,
  loadTable,
  TABLE_DAYS,
  updateTable,
  type V2Entry,
  type V2PoolTable,
} from "./v2-pool-table.ts";

interface V2PoolPage {
  readonly limit: number;
  readonly offset: number;
}

export type V2PoolListRow = ReturnType<typeof rowOf>;

/** The state at the head that pages are made from. */
interface HeadState {
  readonly checkpoint: CheckpointRow;
  readonly table: V2PoolTable;
  readonly tokens: TokenFacts;
  /** Rows requested at this block, by their position in the list. */
  readonly rows: RowText[];
}

/** The list of a chain's v2 pools, the youngest first. */
export class V2PoolList {
  readonly #store: Store;
  readonly #chainId: number;
  readonly #rewards: RewardTokens;
  readonly #render: (row: V2PoolListRow) => RowText;
  #headState: HeadState | undefined;
  /** A table read while the ingest wrote: it can be updated to a head. */
  #loaded: V2PoolTable | undefined;
  /** One reader at a time: the next ones reuse its state. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    store: Store,
    {
      chainId,
      rewards,
      render,
    }: { chainId: number; rewards: RewardTokens; render: (row: V2PoolListRow) => RowText },
  ) {
    this.#store = store;
    this.#chainId = chainId;
    this.#rewards = rewards;
    this.#render = render;
  }

  /** A page at one block; undefined where nothing is indexed yet. */
  async read(page: V2PoolPage): Promise<{ rows: RowText[]; checkpoint: CheckpointRow } | undefined> {
    const turn = this.#turn.then(() => this.#readAtHead());
    this.#turn = turn.catch(() => undefined);
    const headState = await turn;
    if (headState === undefined) return undefined;
    const { checkpoint, table, rows } = headState;
    const at = createRowContext(headState, this.#rewards);
    const end = Math.min(page.offset + page.limit, table.list.length);
    for (let i = page.offset; i < end; i++) rows[i] ??= this.#render(rowOf(table.list[i] as V2Entry, at));
    return { rows: rows.slice(page.offset, end), checkpoint };
  }

  async #readAtHead(): Promise<HeadState | undefined> {
    const store = this.#store;
    const found = await readAtHead(store, {
      chainId: this.#chainId,
      read: async (checkpoint): Promise<HeadState> => {
        const known = this.#headState;
        if (known !== undefined && isSame(known.checkpoint, checkpoint)) return known;
        const base = await this.#tableFor(checkpoint);
        const table = await updateTable(store, { table: base, checkpoint });
        return { checkpoint, table, tokens: await this.#tokensOf(table), rows: [] };
      },
    });
    // Keeps only what was read between two reads of the same head.
    if (found === undefined) return undefined;
    this.#headState = found.value;
    this.#loaded = undefined;
    return found.value;
  }

  /** A table that can be updated to the checkpoint. */
  async #tableFor(checkpoint: CheckpointRow): Promise<V2PoolTable> {
    for (const table of [this.#loaded, this.#headState?.table]) {
      if (table !== undefined && (await isCurrent(this.#store, { table, checkpoint }))) return table;
    }
    const rewards = this.#rewards.all(this.#chainId);
    this.#loaded = await loadTable(this.#store, { checkpoint, tokens: rewards });
    return this.#loaded;
  }

  async #tokensOf({ links }: V2PoolTable): Promise<TokenFacts> {
    const chainId = this.#chainId;
    const paid = await getTokens(this.#store, { chainId, addresses: this.#rewards.all(chainId) });
    const decimals = new Map(paid.map((row) => [row.address, row.decimals]));
    const prices = new Map<string, TokenPrice | undefined>();
    return {
      price(token) {
        if (prices.has(token)) return prices.get(token);
        const price = priceFrom(token, (name) => links.get(name));
        prices.set(token, price);
        return price;
      },
      decimals: (token) => decimals.get(token),
    };
  }
}

/** The same block of an index that begins at the same block. */
function isSame(a: CheckpointRow, b: CheckpointRow): boolean {
  return a.blockHash === b.blockHash && a.fromBlock === b.fromBlock && a.fromTime === b.fromTime;
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

function createRowContext({ checkpoint, tokens }: HeadState, rewards: RewardTokens): RowContext {
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
