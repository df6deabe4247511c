import { setTimeout as sleep } from "node:timers/promises";
import type { ProgressReport } from "../ingest-status/progress.ts";
import {
  formatSeconds,
  headLine,
  type ProgressLabels,
  progressLine,
} from "../ingest-status/progress-line.ts";
import { ProgressModel, type ProgressView } from "../ingest-status/progress-model.ts";
import { type IngestState, type IngestStatusRow, ingestStatus } from "../ingest-status/status-row.ts";
import { type Log, sanitizeText } from "../logging/log.ts";
import type { SourceEvent } from "../rpc-client/endpoint/endpoint.ts";
import type { Guard } from "../storage/lease.ts";
import { ConflictError, put, type Store } from "../storage/port.ts";
import { EndpointMonitor } from "./endpoint-monitor.ts";
import { liveNotice, type TellLive } from "./live-notice.ts";
import type { ChainObserver, ProgressGauges } from "./metrics.ts";

const TICK_MS = 1_000;
/** An unchanged row is rewritten this often: the service sees that the ingest is alive. */
const HEARTBEAT_MS = 10_000;
/** The chain's head is read this often before the index reaches it. */
const READ_HEAD_MS = 5_000;
const PROGRESS_LINE_MS = 1_000;
/** Longer runs log fewer lines. */
const LONG_RUN_MS = 60_000;
const LONG_RUN_LINE_MS = 10_000;
const HEAD_LINE_MS = 30_000;
const FAILURE_LINE_MS = 60_000;
const CHANGED_FAILURE_MS = 10_000;
const LAST_WRITE_MS = 500;
/** A failure is over once the work has continued for this long without another one. */
const RECOVERED_MS = 5_000;

export interface ReporterOptions {
  readonly store: Pick<Store, "write">;
  readonly chainId: number;
  /** Hosts of the RPC endpoints. */
  readonly hosts: readonly string[];
  readonly words: ProgressLabels;
  readonly log: Log;
  readonly gauges?: ProgressGauges;
  /** Told each second what goes on, for a line that changes. */
  readonly tellLive?: TellLive | undefined;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

type ReadHead = () => Promise<{ readonly number: number; readonly timestamp?: number }>;

export interface PublishOptions {
  readonly guard: Guard;
  readonly readHead: ReadHead;
}

/**
 * Reports what the ingest of one chain does: a row in the store, lines in the log, metrics. All derive from one model, so
 * that they never contradict each other. No error here can stop the indexing.
 */
export interface IngestReporter extends ChainObserver {
  readonly report: ProgressReport;
  /** The work failed with this error and will be retried. */
  reportFailure(error: unknown): void;
  /**
   * Publishes while `work` runs, in the process that holds the chain's lease and fenced by it. `readHead` reads the chain's
   * head in stages that do not read it themselves.
   */
  publishDuring<T>(options: PublishOptions, work: () => Promise<T>): Promise<T>;
  /** What is published, for tests. */
  row(): IngestStatusRow;
}

interface Failure {
  readonly why: string;
  readonly sinceMs: number;
  /** When the work first continued. */
  readonly resumedMs?: number;
}

export function createReporter(options: ReporterOptions): IngestReporter {
  return new Reporter(options);
}

class Reporter implements IngestReporter {
  readonly #options: ReporterOptions;
  readonly #now: () => number;
  readonly #model = new ProgressModel();
  readonly #endpoints: EndpointMonitor;
  #failure: Failure | undefined;
  #state:
    | { readonly name: IngestState; readonly why: string | undefined; readonly sinceMs: number }
    | undefined;
  #written: { readonly key: string; readonly ms: number } | undefined;
  #writing: Promise<void> | undefined;
  #isStoreFailing = false;
  #startedMs = 0;
  #lineMs = Number.NEGATIVE_INFINITY;
  #loggedFailure: { readonly why: string | undefined; readonly ms: number } | undefined;
  #headSeenMs = Number.NEGATIVE_INFINITY;
  #isReadingHead = false;

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#endpoints = new EndpointMonitor(options.hosts);
  }

  readonly report: ProgressReport = (step) => this.#model.apply(step, this.#now());

  readonly onEvent = (event: SourceEvent): void => this.#endpoints.onEvent(event, this.#now());

  readonly setHead = (head: { readonly number: number; readonly timestamp?: number | undefined }): void => {
    this.#headSeenMs = this.#now();
    this.#model.setHead(head, this.#headSeenMs);
    // The head is read after store and source have worked: the work continues, unless it fails again at once.
    if (this.#failure !== undefined && this.#failure.resumedMs === undefined)
      this.#failure = { ...this.#failure, resumedMs: this.#headSeenMs };
  };

  readonly setIndexedBlock = (block: {
    readonly number: number;
    readonly time: number;
    readonly events?: number;
  }): void => {
    this.#model.setIndexedBlock(block, this.#now());
    this.#failure = undefined;
  };

  reportFailure(error: unknown): void {
    const sinceMs = this.#failure?.sinceMs ?? this.#now();
    this.#failure = { why: reasonOf(error), sinceMs };
  }

  async publishDuring<T>(options: PublishOptions, work: () => Promise<T>): Promise<T> {
    this.#startedMs = this.#now();
    const tick = () => {
      try {
        this.#tick(options);
      } catch (err) {
        this.#warnOnce(err);
      }
    };
    const timer = setInterval(tick, TICK_MS);
    timer.unref();
    tick();
    try {
      return await work();
    } finally {
      clearInterval(timer);
      // A store that hangs must not delay the end of the process.
      await Promise.race([this.#writing, sleep(LAST_WRITE_MS, undefined, { ref: false })]);
    }
  }

  /** Once for each outage. */
  #warnOnce(err: unknown): void {
    if (!this.#isStoreFailing) this.#options.log.warn({ err }, "the ingest's status cannot be stored");
    this.#isStoreFailing = true;
  }

  #tick({ readHead, guard }: PublishOptions): void {
    const nowMs = this.#now();
    this.#readHeadIfDue(readHead, nowMs);
    const view = this.#model.view(nowMs);
    this.#updateState(view, nowMs);
    this.#logProgress(view, nowMs);
    this.#tellLive(view);
    this.#options.gauges?.showProgress({
      share: view.share,
      etaSeconds: view.etaSeconds,
      isFailing: this.#state?.name === "failing",
      history: view.history,
    });
    this.#publish(view, { nowMs, guard });
  }

  /** The head moves while discovery and backfill take hours, and shows the remaining work. */
  #readHeadIfDue(readHead: ReadHead, nowMs: number): void {
    if (this.#isReadingHead || nowMs - this.#headSeenMs < READ_HEAD_MS) return;
    this.#isReadingHead = true;
    readHead()
      .then(
        (head) => {
          this.#headSeenMs = this.#now();
          this.#model.setHead(head, this.#headSeenMs);
        },
        // The endpoints' events explain the failure.
        () => {},
      )
      .finally(() => {
        this.#isReadingHead = false;
      });
  }

  #updateState(view: ProgressView, nowMs: number): void {
    const resumedMs = this.#failure?.resumedMs;
    if (resumedMs !== undefined && nowMs - resumedMs >= RECOVERED_MS) this.#failure = undefined;
    const down = this.#endpoints.describeOutage(nowMs);
    const failure = down ?? this.#failure;
    const name: IngestState = failure === undefined ? view.state : "failing";
    const why = failure?.why;
    const before = this.#state;
    if (before?.name === name && before.why === why) return;
    const isSame = before?.name === name;
    const sinceMs = isSame
      ? before.sinceMs
      : Date.now() - (failure === undefined ? 0 : nowMs - failure.sinceMs);
    this.#state = { name, why, sinceMs };
    if (name === "following" && before?.name !== "failing") this.#lineMs = Number.NEGATIVE_INFINITY;
  }

  get #name(): string {
    return this.#options.words.chain;
  }

  #tellLive(view: ProgressView): void {
    const { tellLive, words } = this.#options;
    const why = this.#state?.name === "failing" ? (this.#state.why ?? "the reason is unknown") : undefined;
    tellLive?.(liveNotice(view, { words, why }));
  }

  #logProgress(view: ProgressView, nowMs: number): void {
    const { log, words } = this.#options;
    const report = this.#endpoints.takeReport(nowMs);
    if (report !== undefined) log.info({ screen: true }, `${this.#name} endpoints · ${report}`);
    if (this.#state?.name === "failing") {
      this.#logFailure(this.#state, nowMs);
      return;
    }
    if (this.#loggedFailure !== undefined) {
      this.#loggedFailure = undefined;
      log.info({ screen: true }, `${this.#name} works again`);
    }
    const isFollowing = view.state === "following";
    const isLong = nowMs - this.#startedMs > LONG_RUN_MS;
    const everyMs = isFollowing ? HEAD_LINE_MS : isLong ? LONG_RUN_LINE_MS : PROGRESS_LINE_MS;
    if (nowMs - this.#lineMs < everyMs - TICK_MS / 2) return;
    const callsPerSecond = isFollowing ? this.#endpoints.measureCallRate(nowMs) : 0;
    const line = isFollowing
      ? headLine(view, words, { callsPerSecond, host: this.#endpoints.hosts[0] })
      : progressLine(view, words);
    if (line === undefined) return;
    this.#lineMs = nowMs;
    log.info({ screen: true, progress: true }, line);
  }

  /** Logs a failure at once, and again while it lasts, so that it does not scroll away. */
  #logFailure(
    { why, sinceMs }: { readonly why: string | undefined; readonly sinceMs: number },
    nowMs: number,
  ): void {
    const logged = this.#loggedFailure;
    if (
      logged !== undefined &&
      nowMs - logged.ms < (logged.why === why ? FAILURE_LINE_MS : CHANGED_FAILURE_MS)
    )
      return;
    this.#loggedFailure = { why, ms: nowMs };
    const seconds = (Date.now() - sinceMs) / 1_000;
    const since = logged === undefined ? "" : ` (for ${formatSeconds(seconds)})`;
    this.#options.log.warn({ screen: true }, `${this.#name} fails${since}: ${why}`);
  }

  row(): IngestStatusRow {
    const nowMs = this.#now();
    const view = this.#model.view(nowMs);
    this.#updateState(view, nowMs);
    return this.#rowOf(view);
  }

  #rowOf({ share, etaSeconds, head, block, history }: ProgressView): IngestStatusRow {
    const state = this.#state;
    return {
      chainId: this.#options.chainId,
      state: state?.name ?? "starting",
      share: share ?? null,
      etaSeconds: etaSeconds ?? null,
      why: state?.why ?? null,
      sinceMs: Math.round(state?.sinceMs ?? Date.now()),
      head: head ?? null,
      block: block ?? null,
      historyFrom: history?.coveredFrom ?? null,
      historySince: history?.since ?? null,
      historyEtaSeconds: history?.etaSeconds ?? null,
      updatedAtMs: Date.now(),
    };
  }

  /** At most one write at a time, with the latest state: a slow store gets no queue of writes. */
  #publish(view: ProgressView, { nowMs, guard }: { readonly nowMs: number; readonly guard: Guard }): void {
    if (this.#writing !== undefined) return;
    const row = this.#rowOf(view);
    const { updatedAtMs: _, etaSeconds: __, historyEtaSeconds: ___, ...published } = row;
    const key = JSON.stringify({
      ...published,
      share: row.share === null ? null : Math.floor(row.share * 1_000),
    });
    if (this.#written?.key === key && nowMs - this.#written.ms < HEARTBEAT_MS) return;
    this.#written = { key, ms: nowMs };
    this.#writing = this.#options.store
      .write([...guard(), put(ingestStatus, [row])])
      .then(
        () => {
          this.#isStoreFailing = false;
        },
        (err) => {
          this.#written = undefined;
          // Another process holds the lease: its reports count, and this one loses its own soon.
          if (err instanceof ConflictError) return;
          this.#warnOnce(err);
        },
      )
      .finally(() => {
        this.#writing = undefined;
      });
  }
}

/** The first line of an error's message. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [line = ""] = text.trim().split("\n");
  return sanitizeText(line === "" ? "an error without a text" : line).slice(0, 400);
}

/**
 * Stores that this ingest has no endpoint for the chains. A row that another ingest updates stays: one with an endpoint
 * for the chain may run in parallel.
 */
export async function storeMissingSource(
  store: Store,
  { chainIds, log }: { readonly chainIds: readonly number[]; readonly log: Log },
): Promise<void> {
  const nowMs = Date.now();
  for (const chainId of chainIds) {
    try {
      const known = await store.get(ingestStatus, { chainId });
      const isOwned =
        known !== undefined && known.state !== "no_source" && nowMs - known.updatedAtMs < 3 * HEARTBEAT_MS;
      if (isOwned) continue;
      const nothing = {
        ...{ share: null, etaSeconds: null, why: null, head: null, block: null },
        ...{ historyFrom: null, historySince: null, historyEtaSeconds: null },
      };
      const row = { chainId, state: "no_source", ...nothing, sinceMs: nowMs, updatedAtMs: nowMs };
      await store.write([put(ingestStatus, [row])]);
    } catch (err) {
      log.warn({ err, chainId }, "the ingest's status cannot be stored");
    }
  }
}
