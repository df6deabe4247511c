import { setTimeout as sleep } from "node:timers/promises";
import type { Family } from "../../services/shared/contract/endpoint.ts";
import type { BlockRef, LiveHead } from "../../services/shared/grpc/types.ts";
import { toEvent, toEventId } from "./event.ts";
import { EventLog } from "./event-log.ts";
import { type Fork, fateOf, findFork } from "./lineage.ts";
import {
  compareAppends,
  compareRows,
  createRowReader,
  isEmpty,
  type KeyedRow,
  type KeyedRows,
  type Row,
  type RowChange,
} from "./table-rows.ts";
import type { FetchTable, Table, TableQuery } from "./table-source.ts";

/** Why a snapshot is sent: in place of the changes since an earlier event, except at the beginning. */
export type SnapshotReason = "begin" | "gap" | "reorg" | "slow";

/** Reads the stream of a table. */
export interface TopicListener {
  send(event: Buffer): void;
  /** Of the service, or of the way there; the stream goes on. */
  fail(error: unknown): void;
}

export interface TopicOptions extends TableQuery {
  readonly fetchTable: FetchTable;
  /** The head last told by the service. */
  readonly latest: () => LiveHead | undefined;
  readonly retryMs?: number;
}

interface State extends Pick<Table, "head" | "etag"> {
  readonly id: string;
  /** The rows of the page. */
  readonly rows: KeyedRows;
  /** Rows that were told and may be taken back: of the page, and of a list of new rows those that have left it. */
  readonly known: KeyedRows;
}

/** Heads that a reorg may take back by name. */
const MAX_TOLD = 64;
/** Tries to get the table of the head that was told: a replica may be a little behind, or ahead. */
const MAX_TRIES = 12;
/** It doubles up to this: what is a moment behind comes soon, and what stays behind must not be asked for all the time. */
const MAX_TRY_PAUSE_MS = 100;
const RETRY_MS = 1_000;
/** Pages of new rows that are read for one head. */
const MAX_PAGES = 10;
/** Rows that have left the page and may still be taken back. */
const MAX_KNOWN_ROWS = 10_000;

/** One table as a stream: asked for once for each head, whoever listens, and compared with the table before. */
export class Topic {
  readonly #options: TopicOptions;
  readonly #listeners = new Set<TopicListener>();
  readonly #log = new EventLog();
  readonly #keyed: (rows: readonly Row[]) => KeyedRows;
  #state: State | undefined;
  #version: string | undefined;
  #told: BlockRef[] = [];
  #snapshot: { readonly id: string; readonly reason: SnapshotReason; readonly bytes: Buffer } | undefined;
  #isRunning = false;
  #isDue = false;
  #failure: unknown;
  #isClosed = false;
  #retry: NodeJS.Timeout | undefined;
  /** Resolves with the first table; rejects where there is none. */
  readonly ready: Promise<void>;

  constructor(options: TopicOptions) {
    this.#options = options;
    this.#keyed = createRowReader(options.endpoint);
    this.ready = this.#begin();
    this.ready.catch(() => {});
  }

  get family(): Family {
    return this.#options.endpoint.family;
  }

  get chain(): number {
    return this.#options.chain;
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** The id of the latest state; undefined before the first. */
  get id(): string | undefined {
    return this.#state?.id;
  }

  /** Why nothing is told for now; undefined while all is well. */
  get failure(): unknown {
    return this.#failure;
  }

  add(listener: TopicListener): void {
    this.#listeners.add(listener);
  }

  remove(listener: TopicListener): void {
    this.#listeners.delete(listener);
  }

  /** The events after an id; undefined where they are no longer known. */
  eventsAfter(id: string): readonly Buffer[] | undefined {
    return this.#log.after(id);
  }

  /** The whole table as it is now. */
  snapshot(reason: SnapshotReason): Buffer {
    const { id, head, rows } = this.#current;
    if (this.#snapshot?.id === id && this.#snapshot.reason === reason) return this.#snapshot.bytes;
    const { columns, live } = this.#options.endpoint;
    const data = {
      ...head,
      reason,
      key: live === undefined || live.kind === "row" ? [] : live.key,
      columns: columns.map(({ name, type }) => ({ name, type })),
      data: [...rows.values()].map(({ row }) => row),
    };
    this.#snapshot = { id, reason, bytes: toEvent("snapshot", data, id) };
    return this.#snapshot.bytes;
  }

  /** The block of the table as it is now, without the table. */
  headEvent(): Buffer {
    const { id, head } = this.#current;
    return toEvent("head", head, id);
  }

  /** The service has another head. */
  onHead(): void {
    const head = this.#options.latest();
    if (this.#state === undefined || head === undefined) return;
    const isNews = head.hash !== this.#state.head.hash || head.version !== this.#version;
    if (isNews || this.#failure !== undefined) void this.#run();
  }

  /** The table cannot be told for now: said once, until it can be again. */
  fail(error: unknown): void {
    if (this.#failure !== undefined || this.#isClosed) return;
    this.#failure = error;
    for (const listener of this.#listeners) listener.fail(error);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
  }

  get #current(): State {
    if (this.#state === undefined) throw new Error("The topic has no table yet");
    return this.#state;
  }

  async #begin(): Promise<void> {
    const table = await this.#options.fetchTable(this.#options);
    const rows = this.#keyed(table.rows);
    const { head, etag } = table;
    this.#state = { head, etag, id: toEventId(head, etag), rows, known: rows };
    this.#told = [head];
    this.#log.restart(this.#state.id);
    // The service may have told of another head meanwhile.
    queueMicrotask(() => this.onHead());
  }

  async #run(): Promise<void> {
    this.#isDue = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    clearTimeout(this.#retry);
    try {
      while (this.#isDue && !this.#isClosed) {
        this.#isDue = false;
        await this.#follow();
      }
    } catch (error) {
      this.fail(error);
      const { retryMs = RETRY_MS } = this.#options;
      if (!this.#isClosed) this.#retry = setTimeout(() => void this.#run(), retryMs);
    } finally {
      this.#isRunning = false;
    }
  }

  /** Asks for the table of the latest head until it comes. */
  async #follow(): Promise<void> {
    const { latest } = this.#options;
    let table = await this.#options.fetchTable(this.#options);
    for (let tried = 1; !this.#isClosed; tried += 1) {
      const head = latest();
      if (head === undefined) return;
      if (table.head.hash === head.hash) return this.#apply(table, head);
      if (tried >= MAX_TRIES) {
        // Some tables of a service may stay behind its head; a block of another chain is never told.
        if (fateOf(table.head, head) !== "kept") return;
        return this.#apply(table, head);
      }
      await sleep(Math.min(MAX_TRY_PAUSE_MS, 5 * 2 ** tried), undefined, { ref: false });
      // Where the table was ahead of the word of it, that has come by now.
      if (latest()?.hash !== table.head.hash) table = await this.#options.fetchTable(this.#options);
    }
  }

  async #apply(table: Table, latest: LiveHead): Promise<void> {
    const before = this.#current;
    const fork = findFork(this.#told, latest);
    if (fork === undefined && table.head.block < before.head.block) return;
    if (this.#options.endpoint.live?.kind === "appends") return this.#applyAppends(table, { latest, fork });
    const rows = this.#keyed(table.rows);
    this.#advance(table, { latest, fork, rows, known: rows, change: compareRows(before.rows, rows) });
  }

  /** Reads pages until they reach what was told before. */
  async #applyAppends(
    table: Table,
    { latest, fork }: { readonly latest: LiveHead; readonly fork: Fork | undefined },
  ): Promise<void> {
    const { known, head } = this.#current;
    const floor = fork === undefined ? head.block : fork.kept?.block;
    const all = [...table.rows];
    const seen = new Set(all.map((row) => JSON.stringify(row)));
    let isWhole = floor !== undefined;
    for (let pages = 1, next = table.nextQuery; isWhole && next !== undefined; pages += 1) {
      const oldest = [...this.#keyed(all).values()].at(-1);
      if (oldest === undefined || oldest.block <= (floor as number)) break;
      isWhole = pages < MAX_PAGES;
      if (!isWhole) break;
      const page = await this.#options.fetchTable({ ...this.#options, query: next });
      if (this.#isClosed) return;
      // A row may have moved to this page while the one before was read.
      for (const row of page.rows) {
        const text = JSON.stringify(row);
        if (!seen.has(text)) all.push(row);
        seen.add(text);
      }
      next = page.nextQuery;
    }
    const rows = this.#keyed(table.rows);
    const after = this.#keyed(all);
    if (!isWhole) return this.#advance(table, { latest, fork, rows, known: rows, change: undefined });
    const change = compareAppends(known, after, { floor: floor as number, isFork: fork !== undefined });
    const kept = mergeKnown(known, { after, change, oldest: this.#told[0]?.block ?? 0 });
    this.#advance(table, { latest, fork, rows, known: kept, change });
  }

  /** Makes the table the current one, and tells of it. Without `change`, the whole table is told. */
  #advance(
    { head, etag }: Table,
    next: Pick<State, "rows" | "known"> & {
      readonly latest: LiveHead;
      readonly fork: Fork | undefined;
      readonly change: RowChange | undefined;
    },
  ): void {
    const { latest, fork, rows, known, change } = next;
    const before = this.#current;
    this.#version = latest.version;
    const id = toEventId(head, etag);
    if (id === before.id && this.#failure === undefined) return;
    this.#failure = undefined;
    this.#state = { head, etag, id, rows, known };
    this.#remember(head, fork);
    const events: Buffer[] = [];
    // Only the last event has the id: a client that has it has all of them.
    const lastId = change === undefined ? undefined : id;
    if (fork !== undefined) {
      const { rows: changed = [], removed = [], order } = change ?? {};
      const data = { ...head, takenBack: fork.takenBack, rows: changed, removed, order };
      events.push(toEvent("reorg", data, lastId));
    } else if (change !== undefined) {
      events.push(isEmpty(change) ? this.headEvent() : toEvent("change", { ...head, ...change }, id));
    }
    if (change === undefined) {
      this.#log.restart(undefined);
      events.push(this.snapshot(fork === undefined ? "gap" : "reorg"));
    }
    for (const [at, bytes] of events.entries()) {
      this.#log.add({ id: at === events.length - 1 ? id : "", bytes });
      for (const listener of this.#listeners) listener.send(bytes);
    }
  }

  #remember({ block, hash }: BlockRef, fork: Fork | undefined): void {
    if (fork !== undefined) {
      const gone = new Set(fork.takenBack.map((each) => each.hash));
      this.#told = this.#told.filter((each) => !gone.has(each.hash));
    }
    if (this.#told.at(-1)?.hash !== hash) this.#told.push({ block, hash });
    if (this.#told.length > MAX_TOLD) this.#told.shift();
  }
}

/** The rows that a later reorg may take back: the newest, as far back as blocks are remembered. */
function mergeKnown(
  known: KeyedRows,
  next: { readonly after: KeyedRows; readonly change: RowChange; readonly oldest: number },
): KeyedRows {
  const { after, change, oldest } = next;
  const gone = new Set(change.removed.map((key) => JSON.stringify(key)));
  const merged = new Map<string, KeyedRow>(after);
  for (const [name, row] of known) {
    if (merged.size >= MAX_KNOWN_ROWS) break;
    if (row.block >= oldest && !gone.has(name) && !merged.has(name)) merged.set(name, row);
  }
  return merged;
}
