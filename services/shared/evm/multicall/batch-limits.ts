import { type Hex, UpstreamError } from "../port.ts";
import type { InnerCall } from "./abi.ts";

/** Below this, a batch is not worth its while. */
const MIN_CALLS = 8;
/** Batches that went well before a larger one is tried again. */
const SUCCESSES_TO_GROW = 16;
/** Calls that are remembered to spoil a batch. */
const MAX_ISOLATED = 10_000;

/** What is learnt of a chain's batches: how large a one its endpoints bear, which calls spoil one. */
export class BatchLimits {
  readonly #maxCalls: number;
  readonly #isolated = new Set<string>();
  #size: number;
  #successes = 0;
  #seenAt = Number.POSITIVE_INFINITY;

  constructor(maxCalls: number) {
    this.#maxCalls = maxCalls;
    this.#size = maxCalls;
  }

  /** Calls in one batch, as of now. */
  get size(): number {
    return this.#size;
  }

  grow(): void {
    if (++this.#successes < SUCCESSES_TO_GROW) return;
    this.#successes = 0;
    this.#size = Math.min(this.#maxCalls, this.#size * 2);
  }

  /** So many at once were too many. */
  shrink(calls: number): void {
    this.#successes = 0;
    const half = Math.min(this.#size, Math.floor(calls / 2));
    this.#size = Math.max(Math.min(MIN_CALLS, this.#maxCalls), half);
  }

  isIsolated({ to, data }: InnerCall): boolean {
    return this.#isolated.has(to + data);
  }

  /** Each of these goes by itself from now on. */
  isolate(calls: readonly InnerCall[]): void {
    if (this.#isolated.size > MAX_ISOLATED) this.#isolated.clear();
    for (const { to, data } of calls) this.#isolated.add(to + data);
  }

  /** Multicall3 has answered at this block. */
  recordMulticallAt(block: number): void {
    this.#seenAt = Math.min(this.#seenAt, block);
  }

  /** Throws UpstreamError where nothing can only be at Multicall3's address in the eyes of an endpoint in disorder. */
  checkMulticallAbsent(block: number, address: Hex): void {
    if (block < this.#seenAt) return;
    throw new UpstreamError(
      `an endpoint finds nothing at ${address} at block ${block}, where Multicall3 was at block ${this.#seenAt}`,
    );
  }
}
