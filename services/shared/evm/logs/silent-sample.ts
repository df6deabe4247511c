import { expectedFalseRate } from "../bloom.ts";
import type { BlockHeader, LogFilter } from "../port.ts";

export interface SilentSampleOptions {
  /** Most blocks of one range. */
  readonly most: number;
  /** Most of all blocks that are scanned, as a share: short ranges are checked in turns. */
  readonly share: number;
  /** Blocks that are checked beyond the share, the first ones: a short scan is checked as a whole. */
  readonly allowance: number;
  /** Blooms with a higher expected rate of false alarms are not believed; 1 = all are. */
  readonly maxFalseRate: number;
}

/**
 * How many silent blocks of each range of a scan have their blooms checked. Once no bloom of a sample could tell
 * anything, one header a range is read until a bloom tells again: on busy chains nearly all bits are set, and headers
 * would be read for nothing. State without I/O.
 */
export class SilentSample {
  readonly #options: SilentSampleOptions;
  #unspent = 0;
  #allowance: number;
  #isMute = false;

  constructor(options: SilentSampleOptions) {
    this.#options = options;
    this.#allowance = options.allowance;
  }

  /** Blocks to check in a range of so many blocks. */
  take(blocks: number): number {
    const { most, share } = this.#options;
    this.#unspent = Math.min(most, this.#unspent + blocks * share);
    const wanted = Math.min(most, blocks, this.#isMute ? 1 : Number.POSITIVE_INFINITY);
    const shared = Math.min(wanted, Math.floor(this.#unspent));
    const allowed = Math.min(wanted - shared, this.#allowance);
    this.#unspent -= shared;
    this.#allowance -= allowed;
    const count = shared + allowed;
    return count;
  }

  /** The headers whose bloom can tell a block with logs of the filter from one without. */
  selectTelling(headers: readonly BlockHeader[], filter: LogFilter): readonly BlockHeader[] {
    const { maxFalseRate } = this.#options;
    if (maxFalseRate >= 1) return headers;
    const telling = headers.filter(({ logsBloom }) => expectedFalseRate(logsBloom, filter) <= maxFalseRate);
    if (headers.length > 0) this.#isMute = telling.length === 0;
    return telling;
  }
}
