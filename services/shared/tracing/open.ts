import { limitFailureReports } from "../cache/failure-reports.ts";
import type { Log } from "../logging/log.ts";
import { Counter, type Metrics } from "../metrics/metrics.ts";
import type { TracingConfig } from "./config.ts";
import type { Tracing } from "./tracing.ts";

export interface OpenTracingOptions {
  /** Absent = nothing is traced. */
  readonly config: TracingConfig | undefined;
  /** False where anybody may call. */
  readonly trustsCallers: boolean;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Traces as configured, or undefined where no collector is named. A collector may be away: its spans are lost. */
export async function openTracing(options: OpenTracingOptions): Promise<Tracing | undefined> {
  const { config, trustsCallers, log, metrics } = options;
  if (config === undefined) return undefined;
  const { startSdk } = await import("./sdk.ts");
  const spans = new Counter({
    name: "trace_spans_total",
    help: "Recorded spans by what became of them: sent to the collector, lost since it did not take them, or dropped since too many waited",
    labelNames: ["outcome"],
    registers: [metrics.registry],
  });
  const complain = limitFailureReports(({ error, failures }) =>
    log.warn({ err: error, failures }, "traces cannot be sent to the collector"),
  );
  return startSdk({
    config,
    trustsCallers,
    onDrop: () => spans.inc({ outcome: "dropped" }),
    onExport({ spans: count, error }) {
      spans.inc({ outcome: error === undefined ? "sent" : "lost" }, count);
      if (error !== undefined) complain(error);
    },
  });
}
