import type { Registry } from "prom-client";
import type { HistoryView } from "../ingest-status/progress-model.ts";
import { startAdminServer } from "../metrics/admin-server.ts";
import { Counter, createMetrics, Gauge, Histogram, type Metrics } from "../metrics/metrics.ts";
import { within } from "../process/pause.ts";
import type { SourceEvent } from "../rpc-client/endpoint/endpoint.ts";
import type { Store, StoreSize } from "../storage/port.ts";

/** Receives the same events of a chain as its metrics. */
export interface ChainObserver {
  readonly onEvent: (event: SourceEvent) => void;
  setHead(head: { readonly number: number; readonly timestamp?: number | undefined }): void;
  setIndexedBlock(block: { readonly number: number; readonly time: number; readonly events?: number }): void;
}

/** Gauges of progress. */
export interface ProgressGauges {
  showProgress(progress: {
    readonly share: number | undefined;
    readonly etaSeconds: number | undefined;
    readonly isFailing: boolean;
    readonly history: HistoryView | undefined;
  }): void;
}

/** Metrics that every ingest has for a chain. */
export interface ChainGauges {
  /** For the source's onEvent. */
  readonly onEvent: (event: SourceEvent) => void;
  /** The chain's head as last seen; `timestamp` in Unix seconds, absent where heads carry none. */
  setHead(head: { readonly number: number; readonly timestamp?: number }): void;
  /** The latest indexed block; `events` that were written with it. */
  setIndexedBlock(block: { readonly number: number; readonly time: number; readonly events?: number }): void;
  /** All rows that are too old at this time of the chain (Unix seconds) are gone. */
  setRetentionFinished(time: number): void;
}

export interface IngestMetrics extends Metrics {
  /** By its id, or its name where it has none. */
  chain(chainId: number | string): ChainGauges;
  progress(chainId: number | string): ProgressGauges;
  /** Shows how much the store holds and how much more fits, read when scraped. */
  measureStore(store: Pick<Store, "size">): void;
  /**
   * Shows whether this process holds a lease; called with its token, or without one while it waits. What it knew of the
   * chain is forgotten then: a standby would show the lag of the day on which it led.
   */
  leadership(lease: string, chainId: number | string): (token: number | undefined) => void;
  /** Forwards everything that the chain's metrics receive to an observer. */
  observe(chainId: number | string, observer: ChainObserver): void;
}

/** The metrics of an ingest's process: those of every process, its RPC requests, and how far it is behind. */
export function createIngestMetrics(options: { readonly name: string }): IngestMetrics {
  const metrics = createMetrics(options);
  const registers = [metrics.registry];
  const requests = new Histogram({
    name: "rpc_request_duration_seconds",
    help: "Time of HTTP requests to RPC endpoints, by the method of their first call",
    labelNames: ["chain", "host", "method", "ok"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const calls = new Counter({
    name: "rpc_calls_total",
    help: "Calls sent to RPC endpoints, several of which may share one request",
    labelNames: ["chain", "host", "method"],
    registers,
  });
  const faults = new Counter({
    name: "rpc_faults_total",
    help: "Calls that failed at RPC endpoints, by kind of error",
    labelNames: ["chain", "host", "fault"],
    registers,
  });
  const head = new Gauge({
    name: "ingest_chain_head_block",
    help: "The chain's head as last seen",
    labelNames: ["chain"],
    registers,
  });
  const indexed = new Gauge({
    name: "ingest_indexed_block",
    help: "The latest block in the store",
    labelNames: ["chain"],
    registers,
  });
  const lag = new Gauge({
    name: "ingest_lag_seconds",
    help: "Time of the chain's head as last seen less that of the latest block in the store",
    labelNames: ["chain"],
    registers,
  });
  const share = new Gauge({
    name: "ingest_progress_share",
    help: "Share of the work up to the head that is done; 1 at the head",
    labelNames: ["chain"],
    registers,
  });
  const eta = new Gauge({
    name: "ingest_eta_seconds",
    help: "Time until the head is reached, estimated; NaN while it cannot be",
    labelNames: ["chain"],
    registers,
  });
  const failing = new Gauge({
    name: "ingest_failing",
    help: "1 while the ingest fails (no endpoint, no store, an error), else 0",
    labelNames: ["chain"],
    registers,
  });
  const historyFrom = new Gauge({
    name: "ingest_history_from_seconds",
    help: "Unix time from which on all is indexed, while history grows backwards",
    labelNames: ["chain"],
    registers,
  });
  const historyEta = new Gauge({
    name: "ingest_history_eta_seconds",
    help: "Time until history is whole, estimated; 0 when it is, NaN while it cannot be",
    labelNames: ["chain"],
    registers,
  });
  const leader = new Gauge({
    name: "ingest_leader",
    help: "1 while this process holds the lease and writes, 0 while it waits for it",
    labelNames: ["lease"],
    registers,
  });
  const token = new Gauge({
    name: "ingest_lease_token",
    help: "Token of the lease that this process held last; grows with each change of the leader",
    labelNames: ["lease"],
    registers,
  });
  const retention = new Gauge({
    name: "ingest_retention_finished_seconds",
    help: "Unix time of the block at which all rows were gone that were too old then",
    labelNames: ["chain"],
    registers,
  });
  const ofChain = [head, indexed, lag, share, eta, failing, historyFrom, historyEta, retention];
  const observers = new Map<string, ChainObserver>();
  return {
    ...metrics,
    leadership: (lease, chainId) => (held) => {
      const chain = String(chainId);
      if (held === undefined) for (const gauge of ofChain) gauge.remove({ chain });
      leader.set({ lease }, held === undefined ? 0 : 1);
      if (held !== undefined) token.set({ lease }, held);
    },
    measureStore: (store) => measureStore(store, registers),
    observe: (chainId, observer) => void observers.set(String(chainId), observer),
    progress(chainId) {
      const chain = String(chainId);
      return {
        showProgress(progress) {
          if (progress.share !== undefined) share.set({ chain }, progress.share);
          eta.set({ chain }, progress.etaSeconds ?? Number.NaN);
          failing.set({ chain }, progress.isFailing ? 1 : 0);
          const { history } = progress;
          historyEta.set({ chain }, history === undefined ? 0 : (history.etaSeconds ?? Number.NaN));
          if (history !== undefined) historyFrom.set({ chain }, history.coveredFrom);
        },
      };
    },
    chain(chainId) {
      const chain = String(chainId);
      const observer = () => observers.get(chain);
      let headTime: number | undefined;
      let indexedTime: number | undefined;
      const showLag = () => {
        if (indexedTime === undefined || headTime === undefined) return;
        lag.set({ chain }, Math.max(0, headTime - indexedTime));
      };
      return {
        onEvent(event) {
          observer()?.onEvent(event);
          if (event.kind === "request") {
            const { host, method, ok } = event;
            requests.observe({ chain, host, method, ok: String(ok) }, event.ms / 1_000);
            calls.inc({ chain, host, method }, event.calls);
          } else if (event.kind === "fault") faults.inc({ chain, host: event.host, fault: event.fault });
        },
        setHead({ number, timestamp }) {
          observer()?.setHead({ number, timestamp });
          head.set({ chain }, number);
          if (timestamp !== undefined) headTime = Math.max(headTime ?? 0, timestamp);
          showLag();
        },
        setRetentionFinished: (time) => retention.set({ chain }, time),
        setIndexedBlock({ number, time, events = 0 }) {
          observer()?.setIndexedBlock({ number, time, events });
          indexed.set({ chain }, number);
          indexedTime = time;
          if (headTime !== undefined) headTime = Math.max(headTime, time);
          showLag();
        },
      };
    },
  };
}

/** A store that hangs must not keep the other metrics from the scraper. */
const SIZE_TIMEOUT_MS = 2_000;

function measureStore(store: Pick<Store, "size">, registers: Registry[]): void {
  let asked: Promise<StoreSize | undefined> | undefined;
  const ask = async (): Promise<StoreSize | undefined> => {
    let size: StoreSize | undefined;
    const asking = store.size().then((answer) => {
      size = answer;
    });
    await within(SIZE_TIMEOUT_MS, asking).catch(() => {});
    asked = undefined;
    return size;
  };
  /** Both gauges of a scrape show one answer; absent rather than 0, which would raise an alarm. */
  const show = async (gauge: Gauge, read: (size: StoreSize) => number | undefined): Promise<void> => {
    asked ??= ask();
    const size = await asked;
    const bytes = size && read(size);
    if (bytes === undefined) gauge.remove();
    else gauge.set(bytes);
  };
  new Gauge({
    name: "store_bytes",
    help: "Bytes of the store's rows and indexes, with the write-ahead log",
    registers,
    collect() {
      return show(this, ({ storedBytes }) => storedBytes);
    },
  });
  new Gauge({
    name: "store_free_bytes",
    help: "Bytes left on the disk of the store; absent where the server does not say",
    registers,
    collect() {
      return show(this, ({ freeBytes }) => freeBytes);
    },
  });
}

/**
 * Serves /metrics and /livez on a port (0 = none); returns a stop function. Throws when the port is in use.
 */
export async function serveMetrics(
  metrics: Metrics,
  address: { host: string; port: number },
): Promise<() => Promise<void>> {
  const port = address.port === 0 ? "off" : address.port;
  const { stop } = await startAdminServer(metrics, { ...address, port, setting: "INGEST_METRICS_PORT" });
  return stop;
}
