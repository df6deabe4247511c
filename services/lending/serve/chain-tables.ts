import type { SpanContext } from "@opentelemetry/api";
import type { DataVersion } from "../../shared/contract/endpoint.ts";
import type { PriceSource } from "../../shared/grpc/types.ts";
import { versionOf } from "../../shared/index/evm/checkpoint.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { Tracing } from "../../shared/tracing/tracing.ts";
import type { CuratorRegistry } from "../curators.ts";
import type { ChainDeployments, DeployedProtocol } from "../deployments.ts";
import type { UnitSet } from "../protocols/protocol.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import type { LendingRow } from "../protocols/rows.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { PriceBook } from "./price-book.ts";
import type { PriceTable } from "./price-table.ts";
import { ProtocolTables } from "./protocol-tables.ts";
import { collectRows, RowMemory, type RowSet, tokensOf } from "./row-set.ts";
import { Slices } from "./slices.ts";
import { UnitMirror } from "./unit-mirror.ts";

/** Prices are asked for at each new head, and this long after they were told while the head stays. */
const ASK_AGAIN_MS = 2_000;
/** The same while evm-dex cannot be asked, or does not have the tables' block yet. */
const ASK_SOON_MS = 1_000;
/** After a failure of the store, and while a write is under way, the head is read again this much later. */
const RETRY_MS = 1_000;
const UNDER_WAY_MS = 100;

/** What happens to tables, for logs and metrics. */
export interface TableEvents {
  built(of: { chainId: number; protocol: ProtocolId; rows: number; block: number }): void;
  /** A row with a number that is none: it is left out. */
  leftOut(of: { chainId: number; protocol: ProtocolId; row: LendingRow }): void;
  /** The protocol's tables stay those of the block before. */
  failed(of: { chainId: number; protocol: ProtocolId | undefined; error: unknown }): void;
  /** `error` undefined: prices are told again. */
  pricesChanged(of: { chainId: number; error: unknown; hadPrices: boolean }): void;
}

export interface ChainTablesOptions {
  readonly store: Store;
  readonly chain: ChainDeployments;
  readonly prices: PriceSource;
  readonly curators: CuratorRegistry;
  readonly staleSeconds: number;
  readonly events: TableEvents;
  readonly tracing?: Tracing | undefined;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** One protocol's rows as they were made at a head. */
interface Made {
  readonly checkpoint: CheckpointRow;
  readonly rows: RowSet;
}

interface Standing {
  readonly memory: RowMemory;
  readonly made: Made;
  /** What requests are answered from: of the rows before and the prices before, until the next tables are made. */
  readonly tables?: { readonly lists: ProtocolTables; readonly of: Made; readonly prices: PriceTable };
}

/**
 * What is there to answer from. `loading`: the store has data, which was not read yet; `empty`: it had none when this
 * process first looked, and there are no tables since.
 */
export type TableState = "unknown" | "loading" | "empty" | "ready";

/**
 * The tables of one chain: made anew beside the old ones for each head and each change of prices, a few milliseconds at
 * a time, and then put in their place. Requests find tables or none; they never wait for some to be made.
 */
export class ChainTables {
  readonly #options: ChainTablesOptions;
  readonly #mirror: UnitMirror;
  readonly #book: PriceBook;
  readonly #now: () => number;
  readonly #standings = new Map<ProtocolId, Standing>();
  /** Resolves once this process knows what there is, or has failed to read it once. */
  readonly settled: Promise<void>;
  #settle: () => void = () => {};
  #state: TableState = "unknown";
  /** Grows when the store's data are gone. */
  #generation = 0;
  #isSettled = false;
  #checkpoint: CheckpointRow | undefined;
  #tokens: ReadonlySet<string> = new Set();
  #turn: Promise<void> | undefined;
  #askAtMs = 0;
  #readAtMs = 0;
  #isClosed = false;

  constructor(options: ChainTablesOptions) {
    const { store, chain, prices, staleSeconds, events, tracing } = options;
    const { chainId } = chain;
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
    const kinds = chain.protocols.flatMap(({ protocol }) => protocol.kinds);
    this.#mirror = new UnitMirror(store, { chainId, kinds });
    this.#book = new PriceBook({
      ...{ chainId, source: prices, staleSeconds, tracing, now: this.#now },
      onChange: (of) => events.pricesChanged({ chainId, ...of }),
    });
  }

  get state(): TableState {
    return this.#state;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Whether the protocol is deployed on the chain. */
  has(protocol: ProtocolId): boolean {
    return this.#options.chain.protocols.some((deployed) => deployed.protocol.id === protocol);
  }

  /** What the tables stand on, whichever protocols there are; undefined before the first. */
  get version(): DataVersion | undefined {
    return this.#checkpoint && versionOf(this.#checkpoint);
  }

  /**
   * A protocol's lists and what they stand on; undefined before the first, and where it is not deployed. `asked` is
   * the span in which their prices were asked for, where it was traced.
   */
  current(
    protocol: ProtocolId,
  ): { lists: ProtocolTables; version: DataVersion; asked: SpanContext | undefined } | undefined {
    const tables = this.#standings.get(protocol)?.tables;
    if (tables === undefined) return undefined;
    const { checkpoint } = tables.of;
    const stale = this.#book.staleness(checkpoint);
    const tag = `${checkpoint.version}-${tables.prices.tag}`;
    const version = { ...versionOf(checkpoint), tag, ...(stale !== undefined && { stale }) };
    return { lists: tables.lists, version, asked: this.#book.asked };
  }

  /**
   * Starts what is due: rows of a head that was not read, questions for prices, tables at other prices. To be called
   * again and again, `head` as the store was last seen to have it. Resolves when all that is over; never rejects.
   */
  look(head: CheckpointRow | undefined): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    if (head === undefined) this.#forget();
    else if (this.#state === "unknown") this.#state = "loading";
    if (this.#state === "empty") this.#setSettled();
    if (this.#turn !== undefined) return this.#turn;
    const nowMs = this.#now();
    const isHeadDue = head !== undefined && !isSame(head, this.#checkpoint) && nowMs >= this.#readAtMs;
    const isAskDue = this.#checkpoint !== undefined && nowMs >= this.#askAtMs;
    if (!isHeadDue && !isAskDue && !this.#isPricedOtherwise()) return Promise.resolve();
    this.#turn = this.#take({ isHeadDue, isAskDue }).finally(() => {
      this.#turn = undefined;
    });
    return this.#turn;
  }

  /** The store has no data: none yet, or none any more. */
  #forget(): void {
    if (this.#state !== "empty") this.#generation += 1;
    this.#state = "empty";
    this.#checkpoint = undefined;
    this.#standings.clear();
    this.#mirror.clear();
    this.#tokens = new Set();
  }

  async #take({ isHeadDue, isAskDue }: { isHeadDue: boolean; isAskDue: boolean }): Promise<void> {
    const slices = new Slices();
    const generation = this.#generation;
    try {
      const isRead = isHeadDue && (await this.#readHead(slices));
      if (isRead || isAskDue) {
        // Who did not answer last time is not waited for.
        if (!this.#book.isFailing) await this.#ask();
        else if (isAskDue) void this.#ask();
      }
      this.#price();
      // The index was deleted while it was read: what was read is of no index any more.
      if (generation !== this.#generation) this.#forget();
      else if (isRead) this.#state = "ready";
    } catch (error) {
      if (this.#isClosed) return;
      this.#readAtMs = this.#now() + RETRY_MS;
      this.#options.events.failed({ chainId: this.#options.chain.chainId, protocol: undefined, error });
    }
    this.#setSettled();
  }

  #setSettled(): void {
    this.#isSettled = true;
    this.#settle();
  }

  /** Makes the rows of the head; false where it cannot be read yet. */
  async #readHead(slices: Slices): Promise<boolean> {
    const found = await this.#mirror.read(slices);
    if (found === undefined || this.#isClosed) {
      this.#readAtMs = this.#now() + UNDER_WAY_MS;
      return false;
    }
    for (const deployed of this.#options.chain.protocols) {
      await this.#makeRows(deployed, { ...found, slices });
    }
    const tokens = [...this.#standings.values()].flatMap(({ made }) => [...tokensOf(made.rows)]);
    this.#tokens = new Set(tokens);
    this.#checkpoint = found.checkpoint;
    return true;
  }

  async #makeRows(
    deployed: DeployedProtocol,
    { checkpoint, units, slices }: { checkpoint: CheckpointRow; units: UnitSet; slices: Slices },
  ): Promise<void> {
    const { chainId } = this.#options.chain;
    const protocol = deployed.protocol.id;
    const { memory = new RowMemory(), ...before } = this.#standings.get(protocol) ?? {};
    try {
      const rows = await collectRows({
        ...{ deployed, units, chainId, time: checkpoint.blockTime, memory, slices },
        onUnsound: (row) => this.#options.events.leftOut({ chainId, protocol, row }),
      });
      const made = { checkpoint, rows };
      this.#standings.set(protocol, { ...before, memory, made });
    } catch (error) {
      // The others go on.
      this.#options.events.failed({ chainId, protocol, error });
    }
  }

  async #ask(): Promise<void> {
    const head = this.#checkpoint;
    if (head === undefined) return;
    this.#askAtMs = this.#now() + ASK_SOON_MS;
    await this.#book.refresh({ head, tokens: this.#tokens });
    if (this.#book.isAt(head)) this.#askAtMs = this.#now() + ASK_AGAIN_MS;
  }

  #isPricedOtherwise(): boolean {
    for (const { made, tables } of this.#standings.values()) {
      if (tables?.of !== made || tables.prices !== this.#book.tableFor(made.checkpoint)) return true;
    }
    return false;
  }

  /** Puts tables of the rows and prices there are in place of those of others. */
  #price(): void {
    const { chain, curators, events } = this.#options;
    const { chainId } = chain;
    for (const [protocol, standing] of this.#standings) {
      const { made, tables } = standing;
      const { rows, checkpoint } = made;
      const prices = this.#book.tableFor(checkpoint);
      if (tables?.of === made && tables.prices === prices) continue;
      const time = checkpoint.blockTime;
      const lists = new ProtocolTables({ rows, prices, protocol, chainId, time, curators });
      this.#standings.set(protocol, { ...standing, tables: { lists, of: made, prices } });
      events.built({
        ...{ chainId, protocol, block: checkpoint.blockNumber },
        rows: rows.vaults.count + rows.markets.count,
      });
    }
  }

  /** Resolves when nothing of the store is read any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#turn;
  }
}

/** The same block with the same units. */
function isSame(a: CheckpointRow, b: CheckpointRow | undefined): boolean {
  return (
    b !== undefined &&
    a.version === b.version &&
    a.epoch === b.epoch &&
    a.blockHash === b.blockHash &&
    a.fromBlock === b.fromBlock
  );
}
