import { readTracingConfig, type TracingConfig } from "../config.ts";

/** A process that traces to a collector, and sends at once. */
export function tracingConfig(
  url: string,
  { name = "evm-dex", ...changes }: Partial<TracingConfig> & { readonly name?: string } = {},
): TracingConfig {
  const config = readTracingConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: url }, name) as TracingConfig;
  return { ...config, sendEveryMs: 20, ...changes };
}
