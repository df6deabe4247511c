import type { SpanContext } from "@opentelemetry/api";
import type { DataVersion } from "../../shared/contract/endpoint.ts";
import { ServiceError } from "../../shared/errors.ts";
import { hasData } from "../../shared/index/evm/checkpoint.ts";
import type { HeadWatcher } from "../../shared/service/head-watcher.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { ChainTables, type ChainTablesOptions } from "./chain-tables.ts";
import type { ProtocolTables } from "./protocol-tables.ts";

/** How often is looked for what is due: costs nothing while nothing is. */
const LOOK_MS = 25;

export interface LendingTablesOptions extends Omit<ChainTablesOptions, "chain"> {
  readonly chains: readonly ChainTablesOptions["chain"][];
  readonly heads: HeadWatcher<CheckpointRow>;
}

/** What an answer is made from. */
export interface Found {
  /** Absent where the protocol is not deployed on the chain. */
  readonly lists?: ProtocolTables;
  readonly version: DataVersion;
  /** The span in which its prices were asked for, where it was traced. */
  readonly asked?: SpanContext | undefined;
}

/** The tables of every chain, kept up with its head and its prices. */
export class LendingTables {
  readonly #heads: HeadWatcher<CheckpointRow>;
  readonly #chains: ReadonlyMap<number, ChainTables>;
  readonly #timer: NodeJS.Timeout;

  constructor(options: LendingTablesOptions) {
    this.#heads = options.heads;
    this.#chains = new Map(
      options.chains.map((chain) => [chain.chainId, new ChainTables({ ...options, chain })]),
    );
    this.#timer = setInterval(() => this.look(), LOOK_MS).unref();
  }

  /** Starts what is due on any chain. */
  look(): void {
    for (const [chainId, tables] of this.#chains) {
      if (!this.#heads.hasAnswered(chainId)) continue;
      // Not `current`: while the store is silent, the last tables stay, and say which block they stand on.
      const head = this.#heads.last(chainId);
      void tables.look(hasData(head) ? head : undefined);
    }
  }

  /** Whether this process has yet to read what is in the store. */
  get isStarting(): boolean {
    return [...this.#chains.values()].some((tables) => !tables.isSettled);
  }

  /** What there is now; undefined where nothing is indexed, or nothing was read yet. */
  current({ chainId, protocol }: { chainId: number; protocol: ProtocolId }): Found | undefined {
    const chain = this.#chains.get(chainId);
    if (chain?.state !== "ready") return undefined;
    const { version } = chain;
    return chain.current(protocol) ?? (chain.has(protocol) ? undefined : version && { version });
  }

  /**
   * What there is, undefined where nothing is indexed. Waits only in a process that has just begun. Throws unavailable
   * where what is indexed cannot be read.
   */
  async find(of: { chainId: number; protocol: ProtocolId }): Promise<Found | undefined> {
    const found = this.current(of);
    const chain = this.#chains.get(of.chainId);
    if (found !== undefined || chain === undefined) return found;
    await chain.settled;
    if (chain.state === "empty") return undefined;
    const settled = this.current(of);
    if (settled !== undefined) return settled;
    throw new ServiceError("unavailable", `The lending tables of chain ${of.chainId} cannot be read yet.`, {
      retryAfterSeconds: 1,
    });
  }

  /** Resolves when nothing of the store is read any more. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#chains.values()].map((chain) => chain.close()));
  }
}
