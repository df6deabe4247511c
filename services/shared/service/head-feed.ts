import type { BlockRef, LiveHead, LiveHeads } from "../grpc/types.ts";

/** The head that tables are answered from now. */
export type CurrentHead = Omit<LiveHead, "chainId" | "recent">;

export interface HeadFeedOptions {
  readonly chainIds: readonly number[];
  /** Undefined while nothing is indexed. */
  readonly current: (chainId: number) => CurrentHead | undefined;
  /** The last stored blocks up to this one, oldest first. */
  readonly readRecent: (chainId: number, block: number) => Promise<readonly BlockRef[]>;
  /** Calls back whenever `current` of a chain may have changed, until the returned function is called. */
  readonly watch: (notify: (chainId: number) => void) => () => void;
  /** Called for each failed read of recent blocks; the head is published at the next notification. */
  readonly onFailure?: (error: unknown, chainId: number) => void;
}

/** Blocks told with a head: reorgs are shallower, and a gateway that was away for a minute still finds its place. */
export const RECENT_BLOCKS = 64;

interface ChainFeed {
  last: LiveHead | undefined;
  isReading: boolean;
  isAgainDue: boolean;
}

/**
 * Tells of new heads, each with the blocks before it. Works only while somebody listens: the source is watched once, not
 * once a listener.
 */
export class HeadFeed implements LiveHeads {
  readonly #options: HeadFeedOptions;
  readonly #listeners = new Set<(head: LiveHead) => void>();
  readonly #chains: ReadonlyMap<number, ChainFeed>;
  #unwatch: (() => void) | undefined;

  constructor(options: HeadFeedOptions) {
    this.#options = options;
    this.#chains = new Map(
      options.chainIds.map((id) => [id, { last: undefined, isReading: false, isAgainDue: false }]),
    );
  }

  watch(listener: (head: LiveHead) => void): () => void {
    this.#listeners.add(listener);
    if (this.#unwatch === undefined) {
      // What was published before nobody listened may be long past.
      for (const chain of this.#chains.values()) chain.last = undefined;
      this.#unwatch = this.#options.watch((chainId) => void this.#look(chainId));
      for (const chainId of this.#chains.keys()) void this.#look(chainId);
    } else {
      for (const { last } of this.#chains.values()) if (last !== undefined) listener(last);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#unwatch?.();
      this.#unwatch = undefined;
    };
  }

  /** Publishes the chain's head if it is another one. One read at a time, so that heads are told in their order. */
  async #look(chainId: number): Promise<void> {
    const chain = this.#chains.get(chainId);
    if (chain === undefined) return;
    if (chain.isReading) {
      chain.isAgainDue = true;
      return;
    }
    chain.isReading = true;
    try {
      do {
        chain.isAgainDue = false;
        await this.#publish(chainId, chain);
      } while (chain.isAgainDue);
    } catch (error) {
      this.#options.onFailure?.(error, chainId);
    } finally {
      chain.isReading = false;
    }
  }

  async #publish(chainId: number, chain: ChainFeed): Promise<void> {
    const head = this.#options.current(chainId);
    if (head === undefined || isSameHead(head, chain.last)) return;
    const { block, hash, time, version } = head;
    const isSameBlock = chain.last?.hash === hash;
    const recent = isSameBlock
      ? (chain.last as LiveHead).recent
      : await this.#options.readRecent(chainId, block);
    // Replaced while they were read: these blocks are those of the next head.
    const own = recent.find((each) => each.block === block);
    if (own !== undefined && own.hash !== hash) return;
    chain.last = { chainId, block, hash, time, version, recent };
    for (const listener of this.#listeners) listener(chain.last);
  }
}

function isSameHead(head: CurrentHead, last: LiveHead | undefined): boolean {
  return last !== undefined && head.hash === last.hash && head.version === last.version;
}
