import { registerSecret } from "../settings/secrets.ts";
import { type Environment, readSettings } from "../settings/settings.ts";
import type { SAMPLER_NAMES } from "../settings/tracing-settings.ts";

export type SamplerName = (typeof SAMPLER_NAMES)[number];

export interface TracingConfig {
  /** Where OTLP/HTTP takes traces. */
  readonly tracesUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  readonly sampler: SamplerName;
  /** Part of the traces that is recorded, where the sampler asks. */
  readonly samplerArgument: number;
  /** Milliseconds that spans wait for others to be sent with. */
  readonly sendEveryMs: number;
}

const SEND_EVERY_MS = 2_000;

/** How a process is traced, `name` where it has no other; undefined = not at all. Throws ConfigError. */
export function readTracingConfig(env: Environment, name: string): TracingConfig | undefined {
  const settings = readSettings(env, [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_SERVICE_NAME",
    "OTEL_RESOURCE_ATTRIBUTES",
    "OTEL_TRACES_SAMPLER",
    "OTEL_TRACES_SAMPLER_ARG",
  ]);
  const endpoint = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined) return undefined;
  // Known as a whole by then, percent-encoded; what is sent is each value by itself.
  for (const [, value] of settings.OTEL_EXPORTER_OTLP_HEADERS ?? []) registerSecret(value);
  return {
    tracesUrl: `${endpoint.replace(/\/+$/, "")}/v1/traces`,
    headers: Object.fromEntries(settings.OTEL_EXPORTER_OTLP_HEADERS ?? []),
    serviceName: settings.OTEL_SERVICE_NAME ?? name,
    resourceAttributes: Object.fromEntries(settings.OTEL_RESOURCE_ATTRIBUTES ?? []),
    sampler: settings.OTEL_TRACES_SAMPLER,
    samplerArgument: settings.OTEL_TRACES_SAMPLER_ARG,
    sendEveryMs: SEND_EVERY_MS,
  };
}
