import type { SpanContext } from "@opentelemetry/api";
import type { DataVersion } from "../../../shared/contract/endpoint.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { hasData } from "../../../shared/index/evm/checkpoint.ts";
import type { CurrentHead } from "../../../shared/service/head-feed.ts";
import type { HeadWatcher } from "../../../shared/service/head-watcher.ts";
import type { ProtocolId } from "../../protocols/protocol-id.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { ChainTables, type ChainTablesOptions } from "./chain-tables.ts";
import type { ProtocolTables } from "./protocol-tables.ts";

/** Interval of checks for due updates; a check without one is nearly free. */
const UPDATE_CHECK_MS = 25;

export interface LendingTablesOptions extends Omit<ChainTablesOptions, "chain"> {
  readonly chains: readonly ChainTablesOptions["chain"][];
  readonly heads: HeadWatcher<CheckpointRow>;
}

/** The state at the head that one response is made from. */
export interface HeadState {
  /** Absent where the protocol is not deployed on the chain. */
  readonly tables?: ProtocolTables;
  readonly version: DataVersion;
  /** The span of the request for its prices, if traced. */
  readonly priceSpan?: SpanContext | undefined;
}

/** The tables of every chain, updated with its head and its prices. */
export class LendingTables {
  readonly #heads: HeadWatcher<CheckpointRow>;
  readonly #chains: ReadonlyMap<number, ChainTables>;
  readonly #timer: NodeJS.Timeout;
  readonly #watchers = new Set<(chainId: number) => void>();

  constructor(options: LendingTablesOptions) {
    this.#heads = options.heads;
    this.#chains = new Map(
      options.chains.map((chain) => [chain.chainId, new ChainTables({ ...options, chain })]),
    );
    this.#timer = setInterval(() => this.update(), UPDATE_CHECK_MS).unref();
  }

  /** Starts due updates of all chains. */
  update(): void {
    for (const [chainId, tables] of this.#chains) {
      if (!this.#heads.hasAnswered(chainId)) continue;
      // Not `current`: while the store is unavailable, the last tables serve; their version names their block.
      const head = this.#heads.last(chainId);
      const done = tables.update(hasData(head) ? head : undefined);
      if (this.#watchers.size > 0) void done.then(() => this.#notify(chainId));
    }
  }

  /** Calls back whenever tables of a chain may have been built, until the returned function is called. */
  watch(notify: (chainId: number) => void): () => void {
    this.#watchers.add(notify);
    return () => void this.#watchers.delete(notify);
  }

  #notify(chainId: number): void {
    for (const notify of this.#watchers) notify(chainId);
  }

  /** The head that a chain's tables are built at, with a version that any change of its tables changes. */
  builtHead(chainId: number): CurrentHead | undefined {
    const chain = this.#chains.get(chainId);
    if (chain?.state !== "ready") return undefined;
    return chain.builtHead;
  }

  /** Whether this process has not read the store yet: it is not ready until then. */
  get isStarting(): boolean {
    return [...this.#chains.values()].some((tables) => !tables.isSettled);
  }

  /** The current state; undefined where nothing is indexed or read yet. */
  current({ chainId, protocol }: { chainId: number; protocol: ProtocolId }): HeadState | undefined {
    const chain = this.#chains.get(chainId);
    if (chain?.state !== "ready") return undefined;
    const { version } = chain;
    return chain.current(protocol) ?? (chain.has(protocol) ? undefined : version && { version });
  }

  /**
   * The current state; undefined where nothing is indexed. Waits only just after the start of the process. Throws
   * unavailable where the index cannot be read.
   */
  async headState(query: { chainId: number; protocol: ProtocolId }): Promise<HeadState | undefined> {
    const { chainId } = query;
    const current = this.current(query);
    const chain = this.#chains.get(chainId);
    if (current !== undefined || chain === undefined) return current;
    await chain.settled;
    if (chain.state === "empty") return undefined;
    const settled = this.current(query);
    if (settled !== undefined) return settled;
    throw new ServiceError("unavailable", `The lending tables of chain ${chainId} cannot be read yet.`, {
      retryAfterSeconds: 1,
    });
  }

  /** Resolves after the last read of the store. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#chains.values()].map((chain) => chain.close()));
  }
}
