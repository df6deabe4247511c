import { ReorgDetected } from "../../chain-errors.ts";
import type { Clock } from "../../rpc-client/endpoint/clock.ts";
import { BlockUnavailable, CallTooHeavy, type EvmSource, type Hex, UpstreamError } from "../port.ts";
import { encodeAggregate3, type InnerCall, type InnerResult, SURE_CALL, tryDecodeAggregate3 } from "./abi.ts";
import type { BatchLimits } from "./batch-limits.ts";

export interface BlockCallerOptions {
  readonly source: Pick<EvmSource, "chainId" | "call" | "headers">;
  /** Multicall3 on this chain. */
  readonly address: Hex;
  readonly batchLimits: BatchLimits;
  readonly clock: Clock;
}

/** The block that calls are pinned to. */
export interface PinnedBlock {
  readonly number: number;
  readonly hash: Hex;
}

/** getBlockNumber() of Multicall3: succeeds as long as there is gas. */
const PROOF_DATA: Hex = "0x42cbb15c";

/** Single eth_calls per request. */
const DIRECT_CALLS = 100;
/** Attempts to read a block that an endpoint does not know yet while the chain still has it. */
const ATTEMPTS = 5;
const PAUSE_MS = 250;

/** Batches of calls at the end of one block. */
export class BlockCaller {
  readonly #options: BlockCallerOptions;
  readonly #block: PinnedBlock;
  #isAbsent = false;

  constructor(at: BlockCallerOptions, block: PinnedBlock) {
    this.#options = at;
    this.#block = block;
  }

  /**
   * Return data in the order of the calls; null where a call reverted, or its address has no code. Throws as
   * Multicall.
   */
  async call(calls: readonly InnerCall[]): Promise<(Hex | null)[]> {
    const isAlone = calls.map((call) => this.#options.batchLimits.isIsolated(call));
    const [together, alone] = await Promise.all([
      this.#aggregate(calls.filter((_, i) => !isAlone[i])),
      this.#callEach(calls.filter((_, i) => isAlone[i])),
    ]);
    return isAlone.map((is) => (is ? alone : together).shift() ?? null);
  }

  async #aggregate(calls: readonly InnerCall[]): Promise<(Hex | null)[]> {
    if (this.#isAbsent || calls.length < 2) return this.#callEach(calls);
    const results = await this.#callBatch(calls);
    if (results === "absent") return this.#callEach(calls);
    if (results === "failed") return this.#halve(calls);
    this.#options.batchLimits.grow();
    return this.#retryFailed(calls, results);
  }

  async #callBatch(calls: readonly InnerCall[]): Promise<InnerResult[] | "absent" | "failed"> {
    const { address: to, batchLimits } = this.#options;
    const returned = await this.#callOrNull({
      to,
      data: encodeAggregate3([...calls, { to, data: PROOF_DATA }]),
    });
    if (returned === null) return "failed";
    if (returned === "0x") {
      batchLimits.checkMulticallAbsent(this.#block.number, to);
      this.#isAbsent = true;
      return "absent";
    }
    const results = tryDecodeAggregate3(returned, calls.length + 1);
    // The last call: if it has no result, the calls before it used up the gas.
    const proof = results?.pop();
    if (results === undefined || proof?.success !== true || proof.data.length !== 66) return "failed";
    batchLimits.recordMulticallAt(this.#block.number);
    return results;
  }

  /** Null also where no endpoint executes this call, though they execute others. */
  async #callOrNull(call: InnerCall): Promise<Hex | null> {
    try {
      const [returned] = await this.#send([call]);
      return returned ?? null;
    } catch (error) {
      if (!(error instanceof CallTooHeavy)) throw error;
      await this.#proveAnswering();
      return null;
    }
  }

  #halve(calls: readonly InnerCall[]): Promise<(Hex | null)[]> {
    const { batchLimits } = this.#options;
    batchLimits.shrink(calls.length);
    return inHalves(calls, (half) => {
      if (half.length > 1) return this.#aggregate(half);
      batchLimits.isolate(half);
      return this.#callEach(half);
    });
  }

  /**
   * Calls that failed without data may lack gas that others used up: they run again one by one, and if one of them
   * succeeds then, so do all the other failed calls.
   */
  async #retryFailed(calls: readonly InnerCall[], results: readonly InnerResult[]): Promise<(Hex | null)[]> {
    const outputs = results.map(({ success, data }) => (success && data !== "0x" ? data : null));
    const failed = [...results.keys()].filter((i) => results[i]?.success === false);
    const isSilent = (i: number) => results[i]?.data === "0x";
    const askAgain = async (indexes: readonly number[]): Promise<boolean> => {
      const again = await this.#callEach(indexes.map((i) => calls[i] as InnerCall));
      for (const [at, i] of indexes.entries()) outputs[i] = again[at] ?? null;
      return again.some((output) => output !== null);
    };
    if (await askAgain(failed.filter(isSilent))) {
      this.#options.batchLimits.shrink(calls.length);
      await askAgain(failed.filter((i) => !isSilent(i)));
    }
    return outputs;
  }

  /** Each call as an eth_call of its own, with one among them that must succeed. */
  async #callEach(calls: readonly InnerCall[]): Promise<(Hex | null)[]> {
    const parts: InnerCall[][] = [];
    for (let at = 0; at < calls.length; at += DIRECT_CALLS) parts.push(calls.slice(at, at + DIRECT_CALLS));
    return (await Promise.all(parts.map((part) => this.#callDirect(part)))).flat();
  }

  async #callDirect(calls: readonly InnerCall[]): Promise<(Hex | null)[]> {
    try {
      const outputs = await this.#send([...calls, SURE_CALL]);
      if (outputs.pop() !== SURE_CALL.data) throw this.#unprovenError();
      return outputs.map((output) => (output === "0x" ? null : output));
    } catch (error) {
      if (!(error instanceof CallTooHeavy)) throw error;
    }
    if (calls.length > 1) return inHalves(calls, (half) => this.#callDirect(half));
    await this.#proveAnswering();
    return [null];
  }

  /** Throws unless a call that must succeed does so at this block. */
  async #proveAnswering(): Promise<void> {
    try {
      const [output] = await this.#send([SURE_CALL]);
      if (output === SURE_CALL.data) return;
    } catch (error) {
      if (!(error instanceof CallTooHeavy)) throw error;
    }
    throw this.#unprovenError();
  }

  #unprovenError(): Error {
    return new UpstreamError(
      `chain ${this.#options.source.chainId}: at block ${this.#block.number} even a call that must succeed failed`,
    );
  }

  /** As EvmSource.call, but waits for endpoints that do not know the block yet. */
  async #send(calls: readonly InnerCall[]): Promise<(Hex | null)[]> {
    const { number, hash } = this.#block;
    const { source, clock } = this.#options;
    const pinned = calls.map((call) => ({ ...call, block: number, blockHash: hash }));
    for (let attempt = 1; ; attempt++) {
      try {
        return await source.call(pinned);
      } catch (error) {
        if (!(error instanceof BlockUnavailable)) throw error;
        const [now] = await source.headers([number]);
        if (now?.hash !== hash)
          throw new ReorgDetected(`Block ${number} was replaced while it was being read.`);
        if (attempt === ATTEMPTS) throw error;
        await clock.sleep(PAUSE_MS * 2 ** (attempt - 1));
      }
    }
  }
}

async function inHalves<T>(
  list: readonly InnerCall[],
  call: (half: readonly InnerCall[]) => Promise<T[]>,
): Promise<T[]> {
  const middle = Math.ceil(list.length / 2);
  return (await Promise.all([call(list.slice(0, middle)), call(list.slice(middle))])).flat();
}
