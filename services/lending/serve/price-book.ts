import { setTimeout as sleep } from "node:timers/promises";
import type { Span, SpanContext } from "@opentelemetry/api";
import { ServiceError } from "../../shared/errors.ts";
import { MAX_PRICE_TOKENS, type PriceSource, type PricesResponse } from "../../shared/grpc/types.ts";
import { errorTypeOf, markSpanFailed, type Tracing, withRootSpan } from "../../shared/tracing/tracing.ts";
import { NO_PRICES, ORACLES_ONLY, PriceTable } from "./price-table.ts";

/** evm-dex reads the same chain beside us: a block that it does not have yet is asked for again so often. */
const PATIENCE = { times: 8, pauseMs: 100 };
/** Prices of an older block than the tables' are as good as theirs for this long: evm-dex is a few blocks behind. */
const LAG_ALLOWED_SECONDS = 60;

export interface PriceBookOptions {
  readonly chainId: number;
  readonly source: PriceSource;
  /** Prices older than this are not used. */
  readonly staleSeconds: number;
  /**
   * Told of the first prices, the first failure of an outage, and its end (without an error); `hadPrices`: some were
   * told before.
   */
  readonly onChange?: (of: { error: unknown | undefined; hadPrices: boolean }) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
  readonly tracing?: Tracing | undefined;
  readonly patience?: { readonly times: number; readonly pauseMs: number };
}

/** The block that rows stand on. */
export interface PricedHead {
  readonly blockNumber: number;
  /** Unix seconds. */
  readonly blockTime: number;
}

interface Told {
  readonly table: PriceTable;
  readonly atMs: number;
  /** Block and its Unix seconds; undefined where evm-dex does not index the chain: no prices, which cannot age. */
  readonly at: { readonly block: number; readonly time: number } | undefined;
  /** The span in which they were asked for. */
  readonly asked: SpanContext | undefined;
}

/** The last prices of a chain's tokens that evm-dex has told, and how old they are. */
export class PriceBook {
  readonly #options: PriceBookOptions;
  readonly #now: () => number;
  #told: Told | undefined;
  #isFailing = false;
  /** The block that was asked for last: what is told of an earlier one was not worth waiting for. */
  #askedBlock = 0;

  constructor(options: PriceBookOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Whether evm-dex could not be asked the last time. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** The span in which the last prices were asked for, where it was traced: no request did. */
  get asked(): SpanContext | undefined {
    return this.#told?.asked;
  }

  /** Whether the prices are those of this very block. */
  isAt(head: PricedHead): boolean {
    if (this.#isFailing || this.#told === undefined) return false;
    return this.#told.at === undefined || this.#told.at.block === head.blockNumber;
  }

  /**
   * Asks for the prices of these tokens at the block, or where evm-dex does not get there soon, at its head; all of one
   * block. It is waited for only as long as that helps. Never rejects: while evm-dex cannot be asked, the last prices
   * stay.
   */
  refresh(of: { head: PricedHead; tokens: ReadonlySet<string> }): Promise<void> {
    const { chainId, tracing } = this.#options;
    const attributes = {
      "chaintables.chain_id": chainId,
      "chaintables.block": of.head.blockNumber,
      "chaintables.tokens": of.tokens.size,
    };
    return withRootSpan(tracing, { name: "refresh prices", attributes }, (span) => this.#refresh(of, span));
  }

  async #refresh(
    of: { head: PricedHead; tokens: ReadonlySet<string> },
    span: Span | undefined,
  ): Promise<void> {
    const tokens = [...of.tokens].sort();
    const hadPrices = this.#told !== undefined;
    try {
      const answers = await this.#ask(of.head.blockNumber, tokens);
      const prices = new Map<string, number>();
      for (const { token, usd } of answers?.flatMap((answer) => answer.prices) ?? []) {
        if (usd !== null && Number.isFinite(usd)) prices.set(token, usd);
      }
      const table = new PriceTable(prices);
      const [first] = answers ?? [];
      this.#told = {
        // The same object while nothing changes: who holds it need not compare.
        table: this.#told?.table.tag === table.tag ? this.#told.table : table,
        atMs: this.#now(),
        at: first && { block: first.block, time: first.blockTime },
        asked: span?.spanContext(),
      };
      if (this.#isFailing || !hadPrices) this.#options.onChange?.({ error: undefined, hadPrices });
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#options.onChange?.({ error, hadPrices });
      this.#isFailing = true;
      if (span !== undefined) markSpanFailed(span, errorTypeOf(error));
    }
  }

  /** Undefined where the chain is not indexed there. */
  async #ask(block: number, tokens: readonly string[]): Promise<PricesResponse[] | undefined> {
    const { chainId, source } = this.#options;
    const [first = [], ...others] = batches(tokens);
    const answer = await this.#askFirst(block, first);
    if (answer === undefined) return undefined;
    const rest = others.map((batch) => source.getPrices({ chainId, tokens: batch, block: answer.block }));
    return [answer, ...(await Promise.all(rest))];
  }

  async #askFirst(block: number, tokens: readonly string[]): Promise<PricesResponse | undefined> {
    const { chainId, source, patience = PATIENCE } = this.#options;
    const isBehind = this.#told?.at !== undefined && this.#told.at.block < this.#askedBlock;
    this.#askedBlock = block;
    for (let times = isBehind ? 0 : patience.times; ; times--) {
      const answer = await orUnknown(source.getPrices({ chainId, tokens, block }));
      if (answer !== undefined) return answer;
      const atHead = await orUnknown(source.getPrices({ chainId, tokens }));
      // Of a block before its first one it will never know, nor of a chain that it does not index.
      if (times === 0 || atHead === undefined || atHead.block > block) return atHead;
      await sleep(patience.pauseMs);
    }
  }

  /** Prices to be used for rows of this head. */
  tableFor(head: PricedHead): PriceTable {
    const { staleSeconds } = this.#options;
    if (this.#told === undefined || this.#silentSeconds() > staleSeconds) return NO_PRICES;
    return this.#lagSeconds(head) > staleSeconds ? ORACLES_ONLY : this.#told.table;
  }

  /** What X-Data-Stale says of rows of this head; undefined while their prices are as fresh as they should be. */
  staleness(head: PricedHead): string | undefined {
    if (this.#told === undefined) return "prices";
    // As the head goes on, both grow: the longer one is the age of the prices.
    const age = Math.max(this.#silentSeconds(), this.#lagSeconds(head));
    const isFresh = (this.#told.at === undefined || !this.#isFailing) && age <= LAG_ALLOWED_SECONDS;
    return isFresh ? undefined : `prices; age=${Math.floor(age)}`;
  }

  /** Seconds since prices were told, while evm-dex cannot be asked for them. */
  #silentSeconds(): number {
    if (!this.#isFailing || this.#told?.at === undefined) return 0;
    return (this.#now() - this.#told.atMs) / 1000;
  }

  /** Seconds by which the prices' block is behind the rows'. */
  #lagSeconds(head: PricedHead): number {
    const at = this.#told?.at;
    if (at === undefined || at.block >= head.blockNumber) return 0;
    return Math.max(0, head.blockTime - at.time);
  }
}

/** Undefined where evm-dex does not know what was asked about. */
async function orUnknown(asked: Promise<PricesResponse>): Promise<PricesResponse | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "not_found") return undefined;
    throw error;
  }
}

function batches(tokens: readonly string[]): string[][] {
  const found: string[][] = [];
  for (let at = 0; at < tokens.length; at += MAX_PRICE_TOKENS) {
    found.push(tokens.slice(at, at + MAX_PRICE_TOKENS));
  }
  return found;
}
