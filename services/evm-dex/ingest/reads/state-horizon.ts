import { SURE_CALL } from "../../../shared/evm/multicall/abi.ts";
import type { EvmSource } from "../../../shared/evm/port.ts";

/** So long an answer counts: endpoints come and go. */
const COUNTS_MS = 600_000;

export interface StateHorizonOptions {
  readonly source: Pick<EvmSource, "call">;
  /** Monotonic milliseconds. */
  readonly nowMs?: () => number;
}

/** How far behind the head the endpoints have states: a full node has some 128 blocks, an archive node all. */
export class StateHorizon {
  readonly #source: Pick<EvmSource, "call">;
  readonly #nowMs: () => number;
  /** Blocks behind the head: the most at which a state was there, the least at which none was. */
  #there = 0;
  #gone = Number.POSITIVE_INFINITY;
  #sinceMs = Number.NEGATIVE_INFINITY;

  constructor({ source, nowMs = () => performance.now() }: StateHorizonOptions) {
    this.#source = source;
    this.#nowMs = nowMs;
  }

  /**
   * The oldest of these blocks whose state an endpoint has; Infinity where none has. One call where it is the oldest of all,
   * else as many as halving takes.
   * @param blocks numbers, newest first
   */
  async oldest(blocks: readonly number[], head: number): Promise<number> {
    let [found, least] = [0, blocks.length];
    // Archive nodes first: they have them all.
    let next = least - 1;
    while (found < least) {
      if (await this.#has(blocks[next] as number, head)) found = next + 1;
      else least = next;
      next = Math.floor((found + least) / 2);
    }
    return blocks[found - 1] ?? Number.POSITIVE_INFINITY;
  }

  async #has(block: number, head: number): Promise<boolean> {
    const nowMs = this.#nowMs();
    if (nowMs - this.#sinceMs >= COUNTS_MS) {
      this.#there = 0;
      this.#gone = Number.POSITIVE_INFINITY;
      this.#sinceMs = nowMs;
    }
    const behind = head - block;
    if (behind <= this.#there) return true;
    if (behind >= this.#gone) return false;
    // Only a missing state lets it fail.
    const [returned = null] = await this.#source.call([{ ...SURE_CALL, block }]);
    if (returned === null) this.#gone = behind;
    else this.#there = behind;
    return returned !== null;
  }
}
