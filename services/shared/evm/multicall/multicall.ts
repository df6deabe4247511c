import { setImmediate } from "node:timers";
import { type Clock, systemClock } from "../../rpc-client/endpoint/clock.ts";
import type { Hex } from "../port.ts";
import { checkCall, type InnerCall, innerBytes } from "./abi.ts";
import { BatchLimits } from "./batch-limits.ts";
import { BlockCaller, type BlockCallerOptions, type PinnedBlock } from "./block-caller.ts";

/** Multicall3 has this address on nearly every chain. */
export const MULTICALL3 = "0xca11bde05977b3631167028862be2a173976ca11";

export interface MulticallOptions extends Pick<BlockCallerOptions, "source" | "address"> {
  /** Most calls in one eth_call; default 500. */
  readonly maxCalls?: number;
  /** Most bytes of its call data; default 128 KiB. */
  readonly maxBytes?: number;
  /** eth_calls in flight; default 6. */
  readonly parallel?: number;
  readonly clock?: Clock;
}

/** Calls at the end of one block. */
export interface PinnedCalls {
  /**
   * Return data; null where the call reverted, or `to` has no code. Rejects with ReorgDetected once the block is no
   * longer on the chain, with BlockUnavailable or UpstreamError where no endpoint has its state: then every further
   * call of the block rejects too. A malformed address or data rejects only its own call, with RangeError.
   */
  call(to: Hex, data: Hex): Promise<Hex | null>;
}

/**
 * Reads contracts through Multicall3: calls of one event-loop turn form batches, several in flight. A failed batch is
 * halved down to single calls, which isolates reverts. Without Multicall3 (a chain without it, a block before it),
 * every call is an eth_call of its own, many in one request.
 */
export class Multicall {
  readonly #options: BlockCallerOptions;
  readonly #limits: QueueLimits;

  constructor(options: MulticallOptions) {
    const { source, address, maxCalls = 500, maxBytes = 128 * 1024, parallel = 6 } = options;
    this.#options = {
      source,
      address,
      batchLimits: new BatchLimits(maxCalls),
      clock: options.clock ?? systemClock,
    };
    this.#limits = { batchLimits: this.#options.batchLimits, maxBytes, parallel };
  }

  /** The contract that makes the calls. */
  get address(): Hex {
    return this.#options.address;
  }

  at(block: PinnedBlock): PinnedCalls {
    return new CallQueue(new BlockCaller(this.#options, block), this.#limits);
  }
}

interface QueueLimits {
  readonly batchLimits: BatchLimits;
  readonly maxBytes: number;
  readonly parallel: number;
}

interface QueuedCall extends InnerCall {
  resolve(returned: Hex | null): void;
  reject(error: unknown): void;
}

class CallQueue implements PinnedCalls {
  readonly #caller: BlockCaller;
  readonly #limits: QueueLimits;
  /** By address and data: a block's results never change. */
  readonly #results = new Map<string, Promise<Hex | null>>();
  readonly #queued: QueuedCall[] = [];
  #queuedBytes = 0;
  #inFlight = 0;
  #isScheduled = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(asker: BlockCaller, limits: QueueLimits) {
    this.#caller = asker;
    this.#limits = limits;
  }

  call(to: Hex, data: Hex): Promise<Hex | null> {
    const key = to + data;
    let pending = this.#results.get(key);
    if (pending === undefined) {
      pending = this.#enqueue({ to, data });
      this.#results.set(key, pending);
    }
    return pending;
  }

  #enqueue(call: InnerCall): Promise<Hex | null> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    return new Promise((resolve, reject) => {
      checkCall(call);
      this.#queued.push({ ...call, resolve, reject });
      this.#queuedBytes += innerBytes(call);
      this.#schedule();
    });
  }

  /** At the end of the turn: callers that got a result make their next calls some promises later. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  /** Sends full batches while the limit allows; a partial batch only when no result that could fill it is pending. */
  #pump(): void {
    const { batchLimits, maxBytes, parallel } = this.#limits;
    while (this.#queued.length > 0 && this.#inFlight < parallel) {
      const isFull = this.#queued.length >= batchLimits.size || this.#queuedBytes >= maxBytes;
      if (!isFull && this.#inFlight > 0) return;
      void this.#send(this.#dequeueBatch());
    }
  }

  #dequeueBatch(): QueuedCall[] {
    const { batchLimits, maxBytes } = this.#limits;
    let bytes = 0;
    let count = 0;
    while (count < batchLimits.size && count < this.#queued.length) {
      const more = innerBytes(this.#queued[count] as QueuedCall);
      if (count > 0 && bytes + more > maxBytes) break;
      bytes += more;
      count++;
    }
    this.#queuedBytes -= bytes;
    return this.#queued.splice(0, count);
  }

  async #send(batch: readonly QueuedCall[]): Promise<void> {
    this.#inFlight++;
    try {
      const outputs = await this.#caller.call(batch);
      for (const [i, { resolve }] of batch.entries()) resolve(outputs[i] ?? null);
    } catch (error) {
      this.#fail(error, batch);
    } finally {
      this.#inFlight--;
      this.#schedule();
    }
  }

  /** One failed batch rejects all calls of the block. */
  #fail(error: unknown, batch: readonly QueuedCall[]): void {
    this.#failure ??= { error };
    for (const { reject } of batch) reject(error);
    for (const { reject } of this.#queued.splice(0)) reject(error);
    this.#queuedBytes = 0;
  }
}
