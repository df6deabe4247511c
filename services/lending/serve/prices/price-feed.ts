import { setTimeout as sleep } from "node:timers/promises";
import type { Span, SpanContext } from "@opentelemetry/api";
import type { PriceSource, PricesResponse } from "../../../shared/grpc/types.ts";
import { errorTypeOf, markSpanFailed, type Tracing, withRootSpan } from "../../../shared/tracing/tracing.ts";
import { NO_ORACLES, type OraclePrices } from "./oracle-prices.ts";
import { mergePrices, NO_PRICES, type PriceTable, type WalkPrices } from "./price-table.ts";
import { batches, toWalk, undefinedIfNotFound } from "./request-walk.ts";

/** evm-dex indexes the same chain concurrently: retries for a block that it does not have yet. */
const RETRY = { times: 8, pauseMs: 100 };

export interface PriceFeedOptions {
  readonly chainId: number;
  readonly source: PriceSource;
  /** Prices older than this are not used. */
  readonly staleSeconds: number;
  /** Called for the first prices, the first failure of an outage, and its end (`error` undefined). */
  readonly onChange?: (change: { error: unknown | undefined; hadPrices: boolean }) => void;
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number;
  readonly tracing?: Tracing | undefined;
  readonly retry?: { readonly times: number; readonly pauseMs: number };
}

/** The block of the rows. */
export interface PricedHead {
  readonly blockNumber: number;
  /** Unix seconds. */
  readonly blockTime: number;
}

interface PriceSnapshot {
  readonly walk: WalkPrices;
  readonly receivedMs: number;
  /** Block and its Unix seconds; undefined where evm-dex does not index the chain: no prices, which cannot age. */
  readonly at: { readonly block: number; readonly time: number } | undefined;
  /** The span of the request. */
  readonly span: SpanContext | undefined;
}

/** The latest prices of a chain's tokens from evm-dex, and their age. */
export class PriceFeed {
  readonly #options: PriceFeedOptions;
  readonly #now: () => number;
  #latest: PriceSnapshot | undefined;
  #isFailing = false;
  #merged:
    | {
        readonly walk: WalkPrices | undefined;
        readonly oracles: OraclePrices;
        readonly walkLagSeconds: number;
        readonly table: PriceTable;
      }
    | undefined;
  /** The last requested block: prices of an earlier one mean that evm-dex is behind, and retries do not help. */
  #requestedBlock = 0;

  constructor(options: PriceFeedOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Whether the last request failed. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** The span of the last request for prices, if traced. */
  get span(): SpanContext | undefined {
    return this.#latest?.span;
  }

  /** Whether the prices are of this block. */
  isAt(head: PricedHead): boolean {
    if (this.#isFailing || this.#latest === undefined) return false;
    return this.#latest.at === undefined || this.#latest.at.block === head.blockNumber;
  }

  /**
   * Requests the prices of these tokens at the block, or at evm-dex' head if it does not reach the block soon; all of one
   * block. Never rejects: after a failure the last prices stay.
   */
  refresh(query: { head: PricedHead; tokens: ReadonlySet<string> }): Promise<void> {
    const { chainId, tracing } = this.#options;
    const attributes = {
      "chaintables.chain_id": chainId,
      "chaintables.block": query.head.blockNumber,
      "chaintables.tokens": query.tokens.size,
    };
    return withRootSpan(tracing, { name: "refresh prices", attributes }, (span) =>
      this.#refresh(query, span),
    );
  }

  async #refresh(
    query: { head: PricedHead; tokens: ReadonlySet<string> },
    span: Span | undefined,
  ): Promise<void> {
    const tokens = [...query.tokens].sort();
    const hadPrices = this.#latest !== undefined;
    try {
      const responses = await this.#request(query.head.blockNumber, tokens);
      const [first] = responses ?? [];
      this.#latest = {
        walk: toWalk(responses ?? []),
        receivedMs: this.#now(),
        at: first && { block: first.block, time: first.blockTime },
        span: span?.spanContext(),
      };
      if (this.#isFailing || !hadPrices) this.#options.onChange?.({ error: undefined, hadPrices });
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#options.onChange?.({ error, hadPrices });
      this.#isFailing = true;
      if (span !== undefined) markSpanFailed(span, errorTypeOf(error));
    }
  }

  /** Undefined where evm-dex does not index the chain. */
  async #request(block: number, tokens: readonly string[]): Promise<PricesResponse[] | undefined> {
    const { chainId, source } = this.#options;
    const [first = [], ...others] = batches(tokens);
    const response = await this.#requestFirst(block, first);
    if (response === undefined) return undefined;
    const rest = others.map((batch) => source.getPrices({ chainId, tokens: batch, block: response.block }));
    return [response, ...(await Promise.all(rest))];
  }

  async #requestFirst(block: number, tokens: readonly string[]): Promise<PricesResponse | undefined> {
    const { chainId, source, retry = RETRY } = this.#options;
    const isBehind = this.#latest?.at !== undefined && this.#latest.at.block < this.#requestedBlock;
    this.#requestedBlock = block;
    for (let times = isBehind ? 0 : retry.times; ; times--) {
      const response = await undefinedIfNotFound(source.getPrices({ chainId, tokens, block }));
      if (response !== undefined) return response;
      const atHead = await undefinedIfNotFound(source.getPrices({ chainId, tokens }));
      // It will never have a block before its first one, nor a chain that it does not index.
      if (times === 0 || atHead === undefined || atHead.block > block) return atHead;
      await sleep(retry.pauseMs);
    }
  }

  /**
   * The prices for rows of this head: the walk's, then those of oracles. The same object while they are the same: callers
   * compare by reference.
   */
  tableFor(head: PricedHead, oracles: OraclePrices = NO_ORACLES): PriceTable {
    const { staleSeconds } = this.#options;
    if (this.#latest === undefined || this.#outageSeconds() > staleSeconds) return NO_PRICES;
    const { walk } = this.#latest;
    const walkLagSeconds = this.#lagSeconds(head);
    const inputs = { walk: walkLagSeconds > staleSeconds ? undefined : walk, oracles, walkLagSeconds };
    const last = this.#merged;
    const isSame =
      last !== undefined &&
      last.walk === inputs.walk &&
      last.oracles === oracles &&
      last.walkLagSeconds === walkLagSeconds;
    if (isSame) return last.table;
    const merged = mergePrices(inputs.walk, { oracles, walkLagSeconds });
    const table = merged.tag === last?.table.tag ? last.table : merged;
    this.#merged = { ...inputs, table };
    return table;
  }

  /**
   * The value of X-Data-Stale for rows of this head; undefined while all their prices are of its block. `oracleLagSeconds`:
   * by how much the oldest reading of an oracle is older.
   */
  staleness(head: PricedHead, oracleLagSeconds = 0): string | undefined {
    if (this.#latest === undefined) return "prices";
    const { at } = this.#latest;
    // While the head advances, both grow: the longer one is the age of the walk's prices.
    const age = Math.max(this.#outageSeconds(), this.#lagSeconds(head), oracleLagSeconds);
    const isOfBlock = at === undefined || (!this.#isFailing && at.block >= head.blockNumber);
    return isOfBlock && oracleLagSeconds === 0 ? undefined : `prices; age=${Math.floor(age)}`;
  }

  /** Seconds since the last prices, while requests fail. */
  #outageSeconds(): number {
    if (!this.#isFailing || this.#latest?.at === undefined) return 0;
    return (this.#now() - this.#latest.receivedMs) / 1000;
  }

  /** Seconds by which the prices' block is older than the rows'. */
  #lagSeconds(head: PricedHead): number {
    const at = this.#latest?.at;
    if (at === undefined || at.block >= head.blockNumber) return 0;
    return Math.max(0, head.blockTime - at.time);
  }
}
