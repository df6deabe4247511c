import type { SpanContext } from "@opentelemetry/api";
import type { DataVersion } from "../../../shared/contract/endpoint.ts";
import type { PriceSource } from "../../../shared/grpc/types.ts";
import { versionOf } from "../../../shared/index/evm/checkpoint.ts";
import { TimeSlices } from "../../../shared/process/time-slices.ts";
import type { CurrentHead } from "../../../shared/service/head-feed.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { Tracing } from "../../../shared/tracing/tracing.ts";
import type { CuratorRegistry } from "../../curators.ts";
import type { ChainDeployments, DeployedProtocol } from "../../deployments.ts";
import { priceOracles } from "../../protocols/price-oracles/price-oracles.ts";
import type { EntitySet } from "../../protocols/protocol.ts";
import type { ProtocolId } from "../../protocols/protocol-id.ts";
import type { LendingRow } from "../../protocols/rows.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { type OraclePrices, oraclePricesOf } from "../prices/oracle-prices.ts";
import { PriceFeed } from "../prices/price-feed.ts";
import type { PriceTable } from "../prices/price-table.ts";
import { EntityMirror } from "./entity-mirror.ts";
import { ProtocolTables } from "./protocol-tables.ts";
import { collectRows, RowDictionaries, type RowSet, tokensOf } from "./row-set.ts";

/** Prices are requested at each new head, and this long after the last response while the head stays. */
const PRICES_REFRESH_MS = 2_000;
/** The same while evm-dex fails, or does not have the tables' block yet. */
const PRICES_RETRY_MS = 1_000;
/** Delay before the head is read again after a failure of the store, and during a write. */
const RETRY_MS = 1_000;
const WRITE_IN_PROGRESS_MS = 100;

/** Events for logs and metrics. */
export interface TableEvents {
  built(event: { chainId: number; protocol: ProtocolId; rows: number; block: number }): void;
  /** A row with a non-finite number is skipped. */
  rowSkipped(event: { chainId: number; protocol: ProtocolId; row: LendingRow }): void;
  /** The protocol keeps the tables of the previous block; the other protocols continue. */
  failed(event: { chainId: number; protocol: ProtocolId | undefined; error: unknown }): void;
  /** `error` undefined: prices are available again. */
  pricesChanged(event: { chainId: number; error: unknown; hadPrices: boolean }): void;
}

export interface ChainTablesOptions {
  readonly store: Store;
  readonly chain: ChainDeployments;
  readonly prices: PriceSource;
  readonly curators: CuratorRegistry;
  readonly staleSeconds: number;
  readonly events: TableEvents;
  readonly tracing?: Tracing | undefined;
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number;
}

/** One protocol's rows at a head. */
interface RowSnapshot {
  readonly checkpoint: CheckpointRow;
  readonly rows: RowSet;
  readonly oracles: OraclePrices;
}

interface ProtocolState {
  readonly memory: RowDictionaries;
  readonly snapshot: RowSnapshot;
  /** Serves requests; those of the previous rows or prices until the next tables are built. */
  readonly current?: {
    readonly tables: ProtocolTables;
    readonly snapshot: RowSnapshot;
    readonly prices: PriceTable;
  };
}

/** `loading`: the store has data that is not read yet; `empty`: the store has no data. */
export type TableState = "unknown" | "loading" | "empty" | "ready";

/**
 * The tables of one chain: rebuilt beside the current ones for each head and each change of prices, in time slices of a
 * few milliseconds, and then swapped in. Requests never wait for tables to be built.
 */
export class ChainTables {
  readonly #options: ChainTablesOptions;
  readonly #mirror: EntityMirror;
  readonly #prices: PriceFeed;
  readonly #now: () => number;
  readonly #protocols = new Map<ProtocolId, ProtocolState>();
  /** Resolves after this process has read the store once, or failed to. */
  readonly settled: Promise<void>;
  #settle: () => void = () => {};
  #state: TableState = "unknown";
  /** Increases when the store's data are deleted. */
  #generation = 0;
  #isSettled = false;
  #checkpoint: CheckpointRow | undefined;
  #tokens: ReadonlySet<string> = new Set();
  #running: Promise<void> | undefined;
  #nextPricesAtMs = 0;
  #nextReadAtMs = 0;
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
    this.#mirror = new EntityMirror(store, { chainId, kinds: [...kinds, ...priceOracles.kinds] });
    this.#prices = new PriceFeed({
      ...{ chainId, source: prices, staleSeconds, tracing, now: this.#now },
      onChange: (change) => events.pricesChanged({ chainId, ...change }),
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

  /** The version of the last read head; undefined before the first. */
  get version(): DataVersion | undefined {
    return this.#checkpoint && versionOf(this.#checkpoint);
  }

  /** The head of the last built tables; its version has those of all protocols. Undefined before the first. */
  get builtHead(): CurrentHead | undefined {
    const versions = [...this.#protocols.keys()].flatMap((protocol) => this.current(protocol)?.version ?? []);
    const [first] = versions.sort((a, b) => b.block - a.block);
    if (first?.blockHash === undefined) return undefined;
    const version = versions.map(({ blockHash, tag }) => `${blockHash?.slice(0, 10)}/${tag}`).join(" ");
    return { block: first.block, hash: first.blockHash, time: first.time, version };
  }

  /**
   * A protocol's tables and their version; undefined before the first, and where it is not deployed. `priceSpan` is the
   * span of the request for their prices, if traced.
   */
  current(
    protocol: ProtocolId,
  ): { tables: ProtocolTables; version: DataVersion; priceSpan: SpanContext | undefined } | undefined {
    const current = this.#protocols.get(protocol)?.current;
    if (current === undefined) return undefined;
    const { checkpoint, oracles } = current.snapshot;
    const stale = this.#prices.staleness(checkpoint, oracles.lagSeconds);
    const tag = `${checkpoint.version}-${current.prices.tag}`;
    const version = { ...versionOf(checkpoint), tag, ...(stale !== undefined && { stale }) };
    return { tables: current.tables, version, priceSpan: this.#prices.span };
  }

  /**
   * Starts what is due: reading a new head, requesting prices, building tables at new prices. Call it periodically with
   * the store's last known head. Resolves when all that is done; never rejects.
   */
  update(head: CheckpointRow | undefined): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    if (head === undefined) this.#clear();
    else if (this.#state === "unknown") this.#state = "loading";
    if (this.#state === "empty") this.#setSettled();
    if (this.#running !== undefined) return this.#running;
    const nowMs = this.#now();
    const isHeadDue = head !== undefined && !isSame(head, this.#checkpoint) && nowMs >= this.#nextReadAtMs;
    const arePricesDue = this.#checkpoint !== undefined && nowMs >= this.#nextPricesAtMs;
    if (!isHeadDue && !arePricesDue && !this.#isAtOldPrices()) return Promise.resolve();
    this.#running = this.#runUpdate({ isHeadDue, arePricesDue }).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** The store has no data (any more). */
  #clear(): void {
    if (this.#state !== "empty") this.#generation += 1;
    this.#state = "empty";
    this.#checkpoint = undefined;
    this.#protocols.clear();
    this.#mirror.clear();
    this.#tokens = new Set();
  }

  async #runUpdate({
    isHeadDue,
    arePricesDue,
  }: {
    isHeadDue: boolean;
    arePricesDue: boolean;
  }): Promise<void> {
    const slices = new TimeSlices();
    const generation = this.#generation;
    try {
      const isRead = isHeadDue && (await this.#readHead(slices));
      if (isRead || arePricesDue) {
        // After a failure the tables do not wait for prices.
        if (!this.#prices.isFailing) await this.#refreshPrices();
        else if (arePricesDue) void this.#refreshPrices();
      }
      this.#buildTables();
      // The index was deleted during the reading: discard what was read.
      if (generation !== this.#generation) this.#clear();
      else if (isRead) this.#state = "ready";
    } catch (error) {
      if (this.#isClosed) return;
      this.#nextReadAtMs = this.#now() + RETRY_MS;
      this.#options.events.failed({ chainId: this.#options.chain.chainId, protocol: undefined, error });
    }
    this.#setSettled();
  }

  #setSettled(): void {
    this.#isSettled = true;
    this.#settle();
  }

  /** Builds the rows of the head; returns false where it cannot be read yet. */
  async #readHead(slices: TimeSlices): Promise<boolean> {
    const read = await this.#mirror.read(slices);
    if (read === undefined || this.#isClosed) {
      this.#nextReadAtMs = this.#now() + WRITE_IN_PROGRESS_MS;
      return false;
    }
    const { chain, staleSeconds } = this.#options;
    const ids = priceOracles.roots(chain.oracles).map(({ id }) => id);
    const time = read.checkpoint.blockTime;
    const oracles = oraclePricesOf(read.entities, { time, ids, staleSeconds });
    for (const deployed of chain.protocols) {
      await this.#buildRows(deployed, { ...read, oracles, slices });
    }
    const tokens = [...this.#protocols.values()].flatMap(({ snapshot }) => [...tokensOf(snapshot.rows)]);
    this.#tokens = new Set(tokens);
    this.#checkpoint = read.checkpoint;
    return true;
  }

  async #buildRows(
    deployed: DeployedProtocol,
    {
      checkpoint,
      entities,
      oracles,
      slices,
    }: { checkpoint: CheckpointRow; entities: EntitySet; oracles: OraclePrices; slices: TimeSlices },
  ): Promise<void> {
    const { chainId } = this.#options.chain;
    const protocol = deployed.protocol.id;
    const { memory = new RowDictionaries(), ...before } = this.#protocols.get(protocol) ?? {};
    try {
      const rows = await collectRows({
        ...{ deployed, entities, chainId, time: checkpoint.blockTime, memory, slices },
        onSkipped: (row) => this.#options.events.rowSkipped({ chainId, protocol, row }),
      });
      const snapshot = { checkpoint, rows, oracles };
      this.#protocols.set(protocol, { ...before, memory, snapshot });
    } catch (error) {
      // The other protocols continue.
      this.#options.events.failed({ chainId, protocol, error });
    }
  }

  async #refreshPrices(): Promise<void> {
    const head = this.#checkpoint;
    if (head === undefined) return;
    this.#nextPricesAtMs = this.#now() + PRICES_RETRY_MS;
    await this.#prices.refresh({ head, tokens: this.#tokens });
    if (this.#prices.isAt(head)) this.#nextPricesAtMs = this.#now() + PRICES_REFRESH_MS;
  }

  #isAtOldPrices(): boolean {
    for (const { snapshot, current } of this.#protocols.values()) {
      const prices = this.#prices.tableFor(snapshot.checkpoint, snapshot.oracles);
      if (current?.snapshot !== snapshot || current.prices !== prices) return true;
    }
    return false;
  }

  /** Builds the tables of protocols with new rows or prices. */
  #buildTables(): void {
    const { chain, curators, events } = this.#options;
    const { chainId } = chain;
    for (const [protocol, state] of this.#protocols) {
      const { snapshot, current } = state;
      const { rows, checkpoint, oracles } = snapshot;
      const prices = this.#prices.tableFor(checkpoint, oracles);
      if (current?.snapshot === snapshot && current.prices === prices) continue;
      const time = checkpoint.blockTime;
      const tables = new ProtocolTables({ rows, prices, protocol, chainId, time, curators });
      this.#protocols.set(protocol, { ...state, current: { tables, snapshot, prices } });
      events.built({
        ...{ chainId, protocol, block: checkpoint.blockNumber },
        rows: rows.vaults.count + rows.markets.count,
      });
    }
  }

  /** Resolves after the last read of the store. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }
}

/** The same block with the same entities. */
function isSame(a: CheckpointRow, b: CheckpointRow | undefined): boolean {
  return (
    b !== undefined &&
    a.version === b.version &&
    a.epoch === b.epoch &&
    a.blockHash === b.blockHash &&
    a.fromBlock === b.fromBlock
  );
}
