import type { Clock } from "../../rpc-client/endpoint/clock.ts";
import type { BlockHeader, BlockWithSenders } from "../port.ts";
import type { HeadBlock, HeadProbe } from "./port.ts";
import { HeadSchedule } from "./schedule.ts";

export interface HeadWatchOptions {
  /** What the endpoints agree the head is: the large question, when the small ones do not do. */
  readonly head: () => Promise<BlockHeader>;
  readonly probe: HeadProbe;
  readonly clock: Clock;
  readonly pollMs: number;
  /** Whether the blocks' senders are wanted. */
  readonly withSenders: boolean;
  /** Called once when heads are replaced within their block time. */
  readonly onPreconfirmations?: () => void;
}

/** Looks for a head by number alone before the whole head is looked at: another block of the same number is rare. */
const NUMBER_LOOKS = 5;
/** After so many blocks without a head by the small question all endpoints are asked. */
const OVERDUE_BLOCKS = 3;
/** While notifications come, the timer only stands in for one that was lost. */
const NOTIFIED_SLACK_MS = 1_000;
/** Notifications without a new block, since the last one, after which they are ignored until it is due. */
const MAX_FALSE_ALARMS = 2;
/** Replaced heads among the last ones that are preconfirmations rather than reorgs. */
const REPLACED_HEADS = 3;
const AMONG_HEADS = 32;

/**
 * Follows the head of a chain with few and small requests: it asks for the next block when that is due, so that most
 * questions are answered by the block itself, and answers from memory until then. Does nothing by itself: `head` and
 * `wait` drive it.
 */
export class HeadWatch {
  readonly #options: HeadWatchOptions;
  readonly #schedule: HeadSchedule;
  #latest: HeadBlock | undefined;
  /** When the next look is due. */
  #dueMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #looksByNumber = 0;
  #isNotified = false;
  /** Whether the latest came from another watcher. */
  #isOffered = false;
  #falseAlarms = 0;
  #heads = 0;
  #replaced: number[] = [];
  #isSlowed = false;

  constructor(options: HeadWatchOptions) {
    this.#options = options;
    this.#schedule = new HeadSchedule(options.pollMs);
  }

  /** The head; from memory while the next block is not due. Throws what the source throws. */
  async head(): Promise<HeadBlock> {
    if (this.#latest === undefined || this.#options.clock.now() >= this.#dueMs) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
      await this.#looking;
    }
    return this.#latest as HeadBlock;
  }

  /** The last head if it has this number and its senders are known. */
  known(number: number): BlockWithSenders | undefined {
    const { senders } = this.#latest ?? {};
    if (this.#latest?.number !== number || senders === undefined) return undefined;
    return { ...this.#latest, senders };
  }

  /** Until the next look is due, or the head is known to have moved; at most the time. */
  async wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { clock, probe } = this.#options;
    const untilDueMs = this.#dueMs - clock.now();
    if (untilDueMs <= 0) return;
    const waiting = new AbortController();
    this.#wake = () => waiting.abort();
    const either = AbortSignal.any([signal, waiting.signal]);
    const ms = Math.min(timeoutMs, untilDueMs);
    // A socket of our own would be one too many while another watcher tells of heads.
    const isNotified = this.#isOffered ? await clock.sleep(ms, either) : await probe.notified(ms, either);
    if (isNotified === true && this.#falseAlarms <= MAX_FALSE_ALARMS) {
      this.#isNotified = true;
      this.#dueMs = clock.now();
    }
  }
  #wake = (): void => {};

  /**
   * Takes the head from another watcher of the chain, and does not look itself before `slackMs` after the next block is
   * due: if that watcher falls silent, this one goes on.
   */
  offer(block: HeadBlock, slackMs: number): void {
    const nowMs = this.#options.clock.now();
    if (this.#latest !== undefined && block.number < this.#latest.number) return;
    if (block.hash !== this.#latest?.hash) this.#accept(block, nowMs, true);
    this.#isOffered = true;
    this.#dueMs = Math.max(nowMs, this.#schedule.nextLook(block, nowMs)) + slackMs;
    this.#wake();
  }

  /** Looks anew at the next question: the endpoints may serve another branch by now. */
  forget(): void {
    this.#latest = undefined;
    this.#dueMs = Number.NEGATIVE_INFINITY;
  }

  async #look(): Promise<void> {
    const { clock, pollMs } = this.#options;
    const startedMs = clock.now();
    const isPrompt = startedMs - this.#dueMs <= pollMs;
    const isNotified = this.#isNotified;
    this.#isNotified = false;
    this.#isOffered = false;
    // Also after a failure: the next question must not follow at once.
    this.#dueMs = startedMs + pollMs;
    const before = this.#latest;
    const found = await this.#ask(startedMs);
    const nowMs = clock.now();
    const isNew = found !== undefined && found.hash !== before?.hash;
    if (isNew) this.#accept(found, nowMs, isPrompt);
    else if (isNotified) this.#falseAlarms += 1;
    else this.#schedule.missed();
    if (this.#latest === undefined) return;
    const slackMs = isNew && isNotified ? NOTIFIED_SLACK_MS : 0;
    this.#dueMs = this.#schedule.nextLook(this.#latest, startedMs) + slackMs;
  }

  /** The head, by the smallest question that can tell; undefined where there is none since the last. */
  async #ask(nowMs: number): Promise<HeadBlock | undefined> {
    const { probe, head, withSenders } = this.#options;
    const latest = this.#latest;
    if (latest === undefined) return head();
    const isForetold = this.#schedule.blockMs !== undefined;
    const expected = this.#schedule.expectedAfter(latest, nowMs);
    if (isForetold && expected < 2) return (await probe.block(latest.number + 1, withSenders)) ?? undefined;
    // The clock says that several blocks are missing: either all came meanwhile, or the chain or an endpoint halts.
    if (isForetold && expected < OVERDUE_BLOCKS + 1) return head();
    if (this.#looksByNumber++ % NUMBER_LOOKS === NUMBER_LOOKS - 1) return head();
    const number = await probe.blockNumber();
    if (number === latest.number + 1) return (await probe.block(number, withSenders)) ?? undefined;
    return number > latest.number ? head() : undefined;
  }

  #accept(block: HeadBlock, atMs: number, isPrompt: boolean): void {
    const before = this.#latest;
    this.#latest = block;
    this.#falseAlarms = 0;
    this.#heads += 1;
    const isSuccessor = before !== undefined && block.number === before.number + 1;
    const isReplaced = isSuccessor ? block.parentHash !== before.hash : block.number === before?.number;
    if (isReplaced) this.#noteReplaced();
    this.#schedule.arrived(block, atMs, isPrompt);
  }

  /**
   * Some endpoints call a block the head while it is still being built (Flashblocks: ten times a block). Index and
   * reorgs handle that as any replaced block, but it is dear: later looks find the complete one.
   */
  #noteReplaced(): void {
    this.#schedule.replaced();
    this.#replaced = [...this.#replaced, this.#heads].filter((at) => at > this.#heads - AMONG_HEADS);
    if (this.#isSlowed || this.#replaced.length < REPLACED_HEADS) return;
    this.#isSlowed = true;
    this.#options.onPreconfirmations?.();
  }
}
