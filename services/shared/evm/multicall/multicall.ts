import { setImmediate } from "node:timers";
import { type Clock, systemClock } from "../../rpc-client/endpoint/clock.ts";
import type { Hex } from "../port.ts";
import { checkCall, type InnerCall, innerBytes } from "./abi.ts";
import { BatchMemory } from "./cache.ts";
import { type AskOptions, BlockAsker, type PinnedBlock } from "./request.ts";

export interface MulticallOptions extends Pick<AskOptions, "source" | "address"> {
  /** Calls in one eth_call at most; default 500. */
  readonly maxCalls?: number;
  /** Bytes of its call data at most; default 128 KiB. */
  readonly maxBytes?: number;
  /** eth_calls in flight; default 6. */
  readonly parallel?: number;
  readonly clock?: Clock;
}

/** Calls at the end of one block. */
export interface PinnedCalls {
  /**
   * Return data; null where the call reverted, or nothing is at `to`. Rejects with ChainMoved once the block is no
   * longer on the chain, with BlockUnavailable or UpstreamError where no endpoint has its state: then this and every
   * further call of the block rejects. A malformed address or data rejects with RangeError, by itself.
   */
  call(to: Hex, data: Hex): Promise<Hex | null>;
}

/**
 * Reads contracts by Multicall3: calls made in the same turn travel together, several batches at a time. A batch that
 * fails is halved down to single calls, so that what reverts is known to. Where there is no Multicall3 (a chain
 * without it, a block before it), every call is an eth_call of its own, many in a request.
 */
export class Multicall {
  readonly #of: AskOptions;
  readonly #limits: Limits;

  constructor(options: MulticallOptions) {
    const { source, address, maxCalls = 500, maxBytes = 128 * 1024, parallel = 6 } = options;
    this.#of = { source, address, memory: new BatchMemory(maxCalls), clock: options.clock ?? systemClock };
    this.#limits = { memory: this.#of.memory, maxBytes, parallel };
  }

  at(block: PinnedBlock): PinnedCalls {
    return new CallQueue(new BlockAsker(this.#of, block), this.#limits);
  }
}

interface Limits {
  readonly memory: BatchMemory;
  readonly maxBytes: number;
  readonly parallel: number;
}

interface Waiting extends InnerCall {
  resolve(returned: Hex | null): void;
  reject(error: unknown): void;
}

class CallQueue implements PinnedCalls {
  readonly #asker: BlockAsker;
  readonly #limits: Limits;
  /** By address and data: what one block answers does not change. */
  readonly #asked = new Map<string, Promise<Hex | null>>();
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #inFlight = 0;
  #isScheduled = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(asker: BlockAsker, limits: Limits) {
    this.#asker = asker;
    this.#limits = limits;
  }

  call(to: Hex, data: Hex): Promise<Hex | null> {
    const key = to + data;
    let asked = this.#asked.get(key);
    if (asked === undefined) {
      asked = this.#enqueue({ to, data });
      this.#asked.set(key, asked);
    }
    return asked;
  }

  #enqueue(call: InnerCall): Promise<Hex | null> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    return new Promise((resolve, reject) => {
      checkCall(call);
      this.#waiting.push({ ...call, resolve, reject });
      this.#waitingBytes += innerBytes(call);
      this.#schedule();
    });
  }

  /** At the end of the turn: those who waited for one answer ask on within it, some promises apart. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#pump();
    });
  }

  /** Full batches leave while there is room; one that is not full once nothing is under way that could fill it. */
  #pump(): void {
    const { memory, maxBytes, parallel } = this.#limits;
    while (this.#waiting.length > 0 && this.#inFlight < parallel) {
      const isFull = this.#waiting.length >= memory.size || this.#waitingBytes >= maxBytes;
      if (!isFull && this.#inFlight > 0) return;
      void this.#send(this.#take());
    }
  }

  #take(): Waiting[] {
    const { memory, maxBytes } = this.#limits;
    let bytes = 0;
    let count = 0;
    while (count < memory.size && count < this.#waiting.length) {
      const more = innerBytes(this.#waiting[count] as Waiting);
      if (count > 0 && bytes + more > maxBytes) break;
      bytes += more;
      count++;
    }
    this.#waitingBytes -= bytes;
    return this.#waiting.splice(0, count);
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    this.#inFlight++;
    try {
      const answers = await this.#asker.ask(batch);
      for (const [i, { resolve }] of batch.entries()) resolve(answers[i] ?? null);
    } catch (error) {
      this.#fail(error, batch);
    } finally {
      this.#inFlight--;
      this.#schedule();
    }
  }

  /** A block that cannot be read is given up as a whole. */
  #fail(error: unknown, batch: readonly Waiting[]): void {
    this.#failure ??= { error };
    for (const { reject } of batch) reject(error);
    for (const { reject } of this.#waiting.splice(0)) reject(error);
    this.#waitingBytes = 0;
  }
}
