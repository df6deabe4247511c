import { type Hex, UpstreamError } from "../port.ts";
import type { InnerCall } from "./abi.ts";

/** Smallest size that batches shrink to. */
const MIN_CALLS = 8;
/** Successful batches before a larger one is tried. */
const SUCCESSES_TO_GROW = 16;
/** Calls remembered as spoiling a batch. */
const MAX_ISOLATED = 10_000;

/** Learnt limits of a chain's batches: the size that its endpoints accept, and the calls that spoil a batch. */
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

  /** Current calls per batch. */
  get size(): number {
    return this.#size;
  }

  grow(): void {
    if (++this.#successes < SUCCESSES_TO_GROW) return;
    this.#successes = 0;
    this.#size = Math.min(this.#maxCalls, this.#size * 2);
  }

  /** A batch of this many calls failed. */
  shrink(calls: number): void {
    this.#successes = 0;
    const half = Math.min(this.#size, Math.floor(calls / 2));
    this.#size = Math.max(Math.min(MIN_CALLS, this.#maxCalls), half);
  }

  isIsolated({ to, data }: InnerCall): boolean {
    return this.#isolated.has(to + data);
  }

  /** Sends each of these calls alone from now on. */
  isolate(calls: readonly InnerCall[]): void {
    if (this.#isolated.size > MAX_ISOLATED) this.#isolated.clear();
    for (const { to, data } of calls) this.#isolated.add(to + data);
  }

  /** Records that Multicall3 exists at this block. */
  recordMulticallAt(block: number): void {
    this.#seenAt = Math.min(this.#seenAt, block);
  }

  /** Throws UpstreamError where Multicall3 existed before this block: the endpoint that lacks it is broken. */
  checkMulticallAbsent(block: number, address: Hex): void {
    if (block < this.#seenAt) return;
    throw new UpstreamError(
      `an endpoint finds nothing at ${address} at block ${block}, where Multicall3 was at block ${this.#seenAt}`,
    );
  }
}
