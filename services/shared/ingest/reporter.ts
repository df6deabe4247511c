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
import type { ChainObserver, ProgressGauges } from "./metrics.ts";

const TICK_MS = 1_000;
/** A row that does not change is written anew this often: the service sees that the ingest is alive. */
const HEARTBEAT_MS = 10_000;
/** Before the head is reached the chain's head is asked for this often, whatever else is read. */
const LOOK_AT_HEAD_MS = 5_000;
const PROGRESS_LINE_MS = 1_000;
/** After this long the run is a long one, and its lines come less often. */
const LONG_RUN_MS = 60_000;
const LONG_RUN_LINE_MS = 10_000;
const HEAD_LINE_MS = 30_000;
const FAILURE_LINE_MS = 60_000;
const CHANGED_FAILURE_MS = 10_000;
const LAST_WRITE_MS = 500;
/** A failure is over once the work has gone on for this long without another one. */
const RECOVERED_MS = 5_000;

export interface ReporterOptions {
  readonly store: Pick<Store, "write">;
  readonly chainId: number;
  /** Hosts of the RPC endpoints. */
  readonly hosts: readonly string[];
  readonly words: ProgressLabels;
  readonly log: Log;
  readonly gauges?: ProgressGauges;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

type ReadHead = () => Promise<{ readonly number: number; readonly timestamp?: number }>;

export interface Leading {
  readonly guard: Guard;
  readonly readHead: ReadHead;
}

/**
 * Says of one chain what its ingest does: a row in the store, lines in the log, metrics. All of it derives from one
 * model, so that they never contradict one another. Nothing here can fail the indexing.
 */
export interface IngestReporter extends ChainObserver {
  readonly report: ProgressReport;
  /** The work ended with this error, and is tried again. */
  reportFailure(error: unknown): void;
  /**
   * Publishes while `work` runs: for the process that holds the chain's lease, and fenced by it. `readHead` is asked for
   * the chain's head in stages that do not look at it themselves.
   */
  publishDuring<T>(lead: Leading, work: () => Promise<T>): Promise<T>;
  /** What is published, for tests. */
  row(): IngestStatusRow;
}

interface Failure {
  readonly why: string;
  readonly sinceMs: number;
  /** When the work was first seen to go on. */
  readonly goesOnMs?: number;
}

export function createReporter(options: ReporterOptions): IngestReporter {
  return new Reporter(options);
}

class Reporter implements IngestReporter {
  readonly #options: ReporterOptions;
  readonly #now: () => number;
  readonly #model = new ProgressModel();
  readonly #news: EndpointMonitor;
  #failure: Failure | undefined;
  #state:
    | { readonly name: IngestState; readonly why: string | undefined; readonly sinceMs: number }
    | undefined;
  #written: { readonly key: string; readonly ms: number } | undefined;
  #writing: Promise<void> | undefined;
  #isStoreFailing = false;
  #startedMs = 0;
  #lineMs = Number.NEGATIVE_INFINITY;
  #toldFailure: { readonly why: string | undefined; readonly ms: number } | undefined;
  #headSeenMs = Number.NEGATIVE_INFINITY;
  #isLooking = false;

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#news = new EndpointMonitor(options.hosts);
  }

  readonly report: ProgressReport = (step) => this.#model.apply(step, this.#now());

  readonly onEvent = (event: SourceEvent): void => this.#news.onEvent(event, this.#now());

  readonly setHead = (head: { readonly number: number; readonly timestamp?: number | undefined }): void => {
    this.#headSeenMs = this.#now();
    this.#model.setHead(head, this.#headSeenMs);
    // Heads are looked at once store and source have answered: the work goes on, unless it fails again at once.
    if (this.#failure !== undefined && this.#failure.goesOnMs === undefined)
      this.#failure = { ...this.#failure, goesOnMs: this.#headSeenMs };
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

  async publishDuring<T>(lead: Leading, work: () => Promise<T>): Promise<T> {
    this.#startedMs = this.#now();
    const tick = () => {
      try {
        this.#tick(lead);
      } catch (err) {
        this.#complain(err);
      }
    };
    const timer = setInterval(tick, TICK_MS);
    timer.unref();
    tick();
    try {
      return await work();
    } finally {
      clearInterval(timer);
      // A store that hangs must not hold the end of the process.
      await Promise.race([this.#writing, sleep(LAST_WRITE_MS, undefined, { ref: false })]);
    }
  }

  /** Once an outage. */
  #complain(err: unknown): void {
    if (!this.#isStoreFailing) this.#options.log.warn({ err }, "the ingest's status cannot be stored");
    this.#isStoreFailing = true;
  }

  #tick({ readHead, guard }: Leading): void {
    const nowMs = this.#now();
    this.#lookAtHead(readHead, nowMs);
    const view = this.#model.view(nowMs);
    this.#judge(view, nowMs);
    this.#say(view, nowMs);
    this.#options.gauges?.showProgress({
      share: view.share,
      etaSeconds: view.etaSeconds,
      isFailing: this.#state?.name === "failing",
    });
    this.#publish(view, { nowMs, guard });
  }

  /** The head moves on while discovery and backfill take hours, and shows what is still to come. */
  #lookAtHead(readHead: ReadHead, nowMs: number): void {
    if (this.#isLooking || nowMs - this.#headSeenMs < LOOK_AT_HEAD_MS) return;
    this.#isLooking = true;
    readHead()
      .then(
        (head) => {
          this.#headSeenMs = this.#now();
          this.#model.setHead(head, this.#headSeenMs);
        },
        // The endpoints' own events say why.
        () => {},
      )
      .finally(() => {
        this.#isLooking = false;
      });
  }

  #judge(view: ProgressView, nowMs: number): void {
    const goesOnMs = this.#failure?.goesOnMs;
    if (goesOnMs !== undefined && nowMs - goesOnMs >= RECOVERED_MS) this.#failure = undefined;
    const down = this.#news.describeOutage(nowMs);
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

  #say(view: ProgressView, nowMs: number): void {
    const { log, words } = this.#options;
    const news = this.#news.takeReport(nowMs);
    if (news !== undefined) log.info({ screen: true }, `${this.#name} endpoints · ${news}`);
    if (this.#state?.name === "failing") {
      this.#sayFailure(this.#state, nowMs);
      return;
    }
    if (this.#toldFailure !== undefined) {
      this.#toldFailure = undefined;
      log.info({ screen: true }, `${this.#name} goes on`);
    }
    const isFollowing = view.state === "following";
    const isLong = nowMs - this.#startedMs > LONG_RUN_MS;
    const everyMs = isFollowing ? HEAD_LINE_MS : isLong ? LONG_RUN_LINE_MS : PROGRESS_LINE_MS;
    if (nowMs - this.#lineMs < everyMs - TICK_MS / 2) return;
    const callsPerSecond = isFollowing ? this.#news.measureCallRate(nowMs) : 0;
    const line = isFollowing
      ? headLine(view, words, { callsPerSecond, host: this.#news.hosts[0] })
      : progressLine(view, words);
    if (line === undefined) return;
    this.#lineMs = nowMs;
    log.info({ screen: true }, line);
  }

  /** At once, and again while it lasts: the line of a failure must not scroll away for good. */
  #sayFailure(
    { why, sinceMs }: { readonly why: string | undefined; readonly sinceMs: number },
    nowMs: number,
  ): void {
    const told = this.#toldFailure;
    if (told !== undefined && nowMs - told.ms < (told.why === why ? FAILURE_LINE_MS : CHANGED_FAILURE_MS))
      return;
    this.#toldFailure = { why, ms: nowMs };
    const seconds = (Date.now() - sinceMs) / 1_000;
    const since = told === undefined ? "" : ` (for ${formatSeconds(seconds)})`;
    this.#options.log.warn({ screen: true }, `${this.#name} fails${since}: ${why}`);
  }

  row(): IngestStatusRow {
    const nowMs = this.#now();
    const view = this.#model.view(nowMs);
    this.#judge(view, nowMs);
    return this.#rowOf(view);
  }

  #rowOf({ share, etaSeconds, head, block }: ProgressView): IngestStatusRow {
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
      updatedAtMs: Date.now(),
    };
  }

  /** At most one write at a time, of what is true by then: a store that is slow is not asked for more. */
  #publish(view: ProgressView, { nowMs, guard }: { readonly nowMs: number; readonly guard: Guard }): void {
    if (this.#writing !== undefined) return;
    const row = this.#rowOf(view);
    const { updatedAtMs: _, etaSeconds: __, ...telling } = row;
    const key = JSON.stringify({
      ...telling,
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
          // Another process leads: what it says counts, and this one hears of it at once.
          if (err instanceof ConflictError) return;
          this.#complain(err);
        },
      )
      .finally(() => {
        this.#writing = undefined;
      });
  }
}

/** The first line of an error, which says what happened. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [line = ""] = text.trim().split("\n");
  return sanitizeText(line === "" ? "an error without a text" : line).slice(0, 400);
}

/**
 * Notes that this installation's ingest has no endpoint for chains. A row that another ingest keeps up is left alone:
 * one with an endpoint for the chain may run beside this one.
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
      const nothing = { share: null, etaSeconds: null, why: null, head: null, block: null };
      const row = { chainId, state: "no_source", ...nothing, sinceMs: nowMs, updatedAtMs: nowMs };
      await store.write([put(ingestStatus, [row])]);
    } catch (err) {
      log.warn({ err, chainId }, "the ingest's status cannot be stored");
    }
  }
}
