import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { VERSION } from "../process/version.ts";
import { type ObservedRequest, RequestHistogram } from "./request-histogram.ts";

export interface Metrics {
  /** For further metrics: `registers: [metrics.registry]`. */
  readonly registry: Registry;
  observeRequest(request: ObservedRequest): void;
  /** The Prometheus text format; `contentType` says which version. */
  render(): Promise<string>;
  readonly contentType: string;
}

/**
 * One registry for each part of a process, so that several services in one process (tests, all in one) do not share
 * counters: build info, process metrics and the HTTP request histogram.
 */
export function createMetrics(options: { readonly name: string }): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ service: options.name });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  new Gauge({
    name: "build_info",
    aggregator: "first",
    help: "1, with the version as label",
    labelNames: ["version"],
    registers,
  }).set({ version: VERSION }, 1);
  const requests = new RequestHistogram(registry);
  return {
    registry,
    observeRequest: (request) => requests.observe(request),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

export { Counter, Gauge, Histogram };
