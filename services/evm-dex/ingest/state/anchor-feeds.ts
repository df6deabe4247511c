import { atPeg } from "../../price/anchor-prices.ts";
import type { FeedAnswer } from "../feeds/feed-contracts.ts";

/** Chainlink's stablecoin feeds answer at least once a day; an hour for a congested chain. */
const MAX_AGE_SECONDS = 25 * 3_600;
/** No stablecoin is worth as much. */
const MAX_USD = 10;

type Verdict = "peg" | "off" | "old" | "absurd";

/** What an operator should know of an anchor, once. */
export interface FeedNotice {
  readonly token: string;
  readonly verdict: Verdict;
  readonly usd: number;
}

/**
 * What the anchors' feeds say, as a function of the blocks up to now: an answer counts from the next block with events
 * on, until it is older than its feed ever leaves it.
 */
export class AnchorFeeds {
  /** In the order of the chain. */
  #pending: FeedAnswer[] = [];
  readonly #current = new Map<string, FeedAnswer>();
  readonly #verdicts = new Map<string, Verdict>();
  readonly #notices: FeedNotice[] = [];

  /** Forgets all answers: those of an earlier block follow. */
  clear(): void {
    this.#pending = [];
    this.#current.clear();
  }

  add(answers: readonly FeedAnswer[]): void {
    this.#pending.push(...answers);
  }

  /**
   * USD by anchor at a block; undefined where the anchor's feed does not count. Anchors without an answer are left out.
   * @param time Unix seconds of the block
   */
  at(block: number, time: number): ReadonlyMap<string, number | undefined> {
    let due = 0;
    for (; (this.#pending[due]?.blockNumber ?? Number.POSITIVE_INFINITY) <= block; due++) {
      const answer = this.#pending[due] as FeedAnswer;
      this.#current.set(answer.token, answer);
    }
    this.#pending.splice(0, due);
    const usd = new Map<string, number | undefined>();
    for (const [token, answer] of this.#current) {
      const verdict = judge(answer, time);
      this.#note(answer, verdict);
      usd.set(token, verdict === "old" || verdict === "absurd" ? undefined : answer.usd);
    }
    return usd;
  }

  #note({ token, usd }: FeedAnswer, verdict: Verdict): void {
    if ((this.#verdicts.get(token) ?? "peg") !== verdict) this.#notices.push({ token, verdict, usd });
    this.#verdicts.set(token, verdict);
  }

  /** What has changed since this was last called. */
  takeNotices(): FeedNotice[] {
    return this.#notices.splice(0);
  }
}

function judge({ usd, updatedAt }: FeedAnswer, time: number): Verdict {
  if (!(usd > 0 && usd < MAX_USD)) return "absurd";
  if (time - updatedAt > MAX_AGE_SECONDS) return "old";
  return atPeg(usd) === 1 ? "peg" : "off";
}

/** One line of the log. */
export function describeNotice({ verdict, usd }: FeedNotice, symbol: string): string {
  switch (verdict) {
    case "off":
      return `${symbol} is at ${usd} USD by its feed.`;
    case "peg":
      return `${symbol} is at 1 USD again by its feed.`;
    case "old":
      return `The feed of ${symbol} is silent for more than 25 hours: other stablecoins value it.`;
    case "absurd":
      return `The feed of ${symbol} says ${usd} USD, which is refused: other stablecoins value it.`;
  }
}
