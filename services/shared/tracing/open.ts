import { limitFailureReports } from "../cache/failure-reports.ts";
import type { Log } from "../logging/log.ts";
import { Counter, type Metrics } from "../metrics/metrics.ts";
import type { TracingConfig } from "./config.ts";
import type { Tracing } from "./tracing.ts";

export interface OpenTracingOptions {
  /** Absent = tracing is off. */
  readonly config: TracingConfig | undefined;
  /** False for a public listener. */
  readonly trustsCallers: boolean;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Opens tracing as configured; undefined without a collector. Spans are lost while the collector is down. */
export async function openTracing(options: OpenTracingOptions): Promise<Tracing | undefined> {
  const { config, trustsCallers, log, metrics } = options;
  if (config === undefined) return undefined;
  const { startSdk } = await import("./sdk.ts");
  const spans = new Counter({
    name: "trace_spans_total",
    help: "Recorded spans by outcome: sent to the collector, lost (the export failed), or dropped (the queue was full)",
    labelNames: ["outcome"],
    registers: [metrics.registry],
  });
  const warn = limitFailureReports(({ error, failures }) =>
    log.warn({ err: error, failures }, "traces cannot be sent to the collector"),
  );
  return startSdk({
    config,
    trustsCallers,
    onDrop: () => spans.inc({ outcome: "dropped" }),
    onExport({ spans: count, error }) {
      spans.inc({ outcome: error === undefined ? "sent" : "lost" }, count);
      if (error !== undefined) warn(error);
    },
  });
}
