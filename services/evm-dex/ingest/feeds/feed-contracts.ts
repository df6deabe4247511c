import { encodeCall, readAddress, readSigned, readUint } from "../../../shared/evm/abi.ts";
import type { EthCall, EvmSource, Hex, RawLog } from "../../../shared/evm/port.ts";
import type { Feed } from "../../deployments.ts";

/** AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt) of an aggregator. */
export const ANSWER_UPDATED: Hex = "0x0559884fd3a460db3073b7fc896cc77986f16e378210ded43186175bf646fc5f";
const AGGREGATOR = "0x245a7bfc";
const PHASE_ID = "0x58303b10";
/** phaseAggregators(uint16) */
const PHASE_AGGREGATORS = "0xc1597304";
const DECIMALS = "0x313ce567";
const LATEST_ROUND_DATA = "0xfeaf968c";
/** A feed has a handful of phases; what says more is no feed. */
const MOST_PHASES = 100;

/** What a feed said in a block. */
export interface FeedAnswer {
  /** The anchor. */
  readonly token: string;
  readonly blockNumber: number;
  readonly usd: number;
  /** Unix seconds, by the feed. */
  readonly updatedAt: number;
}

interface Aggregator {
  readonly token: string;
  readonly decimals: number;
}

/**
 * The aggregators behind the proxies of a chain's feeds, past and present: while a proxy moves from one to the next,
 * both answer the same question. Shared with the fetchers, which run ahead.
 */
export class FeedContracts {
  readonly #feeds: readonly Feed[];
  readonly #aggregators = new Map<string, Aggregator>();

  /** Block that the proxies were last read at. */
  readAt = -1;

  constructor(feeds: readonly Feed[] = []) {
    this.#feeds = feeds;
  }

  get isEmpty(): boolean {
    return this.#feeds.length === 0;
  }

  /** Reads the proxies' aggregators at a block. Returns the feeds that have none. */
  async load(source: Pick<EvmSource, "call">, block: number): Promise<Feed[]> {
    const selectors = [DECIMALS, AGGREGATOR, PHASE_ID] as const;
    const results = await source.call(
      this.#feeds.flatMap(({ proxy }) => selectors.map((selector) => callOf(proxy, { selector, block }))),
    );
    this.readAt = block;
    const silent: Feed[] = [];
    for (const [i, feed] of this.#feeds.entries()) {
      const [decimals, aggregator, phases] = results.slice(3 * i, 3 * i + 3).map(wordOf);
      if (decimals === undefined || readUint(decimals, 0) > 36n) {
        silent.push(feed);
        continue;
      }
      const at = { token: feed.token, decimals: Number(readUint(decimals, 0)) };
      this.#aggregators.set(feed.proxy, at);
      if (aggregator !== undefined) this.#aggregators.set(readAddress(aggregator, 0), at);
      const count = phases === undefined ? 0 : Number(readUint(phases, 0));
      for (const address of await readPhases(source, { proxy: feed.proxy, count, block }))
        this.#aggregators.set(address, at);
    }
    return silent;
  }

  /** The answer that a log brings; undefined for a log of any other contract. */
  answerOf(log: RawLog): FeedAnswer | undefined {
    const aggregator = this.#aggregators.get(log.address);
    const [topic, current] = log.topics;
    if (aggregator === undefined || topic !== ANSWER_UPDATED || current === undefined) return undefined;
    if (log.topics.length !== 3 || log.data.length !== 66) return undefined;
    return {
      token: aggregator.token,
      blockNumber: log.blockNumber,
      usd: toUsd(readSigned(current, 0), aggregator.decimals),
      updatedAt: Number(readUint(log.data, 0)),
    };
  }

  /** Calls for what each feed last said before the index. */
  get latestCalls(): readonly { readonly to: Hex; readonly data: Hex }[] {
    return this.#feeds.map(({ proxy }) => ({ to: proxy, data: LATEST_ROUND_DATA }));
  }

  /** The answers from the results of latestCalls. */
  readLatest(results: readonly (Hex | null)[], blockNumber: number): FeedAnswer[] {
    return this.#feeds.flatMap(({ token, proxy }, i) => {
      const round = results[i] ?? null;
      const aggregator = this.#aggregators.get(proxy);
      if (aggregator === undefined || round === null || round.length < 2 + 5 * 64) return [];
      const usd = toUsd(readSigned(round, 1), aggregator.decimals);
      return [{ token, blockNumber, usd, updatedAt: Number(readUint(round, 3)) }];
    });
  }
}

async function readPhases(
  source: Pick<EvmSource, "call">,
  { proxy, count, block }: { proxy: Hex; count: number; block: number },
): Promise<Hex[]> {
  if (count === 0 || count > MOST_PHASES) return [];
  const results = await source.call(
    Array.from({ length: count }, (_, i) => ({
      to: proxy,
      data: encodeCall(PHASE_AGGREGATORS, [i + 1]),
      block,
      needsState: true,
    })),
  );
  return results.flatMap((result) => {
    const word = wordOf(result);
    return word === undefined ? [] : [readAddress(word, 0)];
  });
}

function callOf(to: Hex, { selector, block }: { selector: Hex; block: number }): EthCall {
  return { to, data: selector, block, needsState: true };
}

function wordOf(result: Hex | null | undefined): Hex | undefined {
  return typeof result === "string" && result.length >= 66 ? result : undefined;
}

function toUsd(answer: bigint, decimals: number): number {
  return Number(answer) / 10 ** decimals;
}
