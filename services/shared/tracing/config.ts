import { registerSecret } from "../settings/secrets.ts";
import { type Environment, readSettings } from "../settings/settings.ts";
import type { SAMPLER_NAMES } from "../settings/tracing-settings.ts";

export type SamplerName = (typeof SAMPLER_NAMES)[number];

export interface TracingConfig {
  /** The OTLP/HTTP endpoint for traces. */
  readonly tracesUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  readonly sampler: SamplerName;
  /** Ratio of recorded traces, for ratio samplers. */
  readonly samplerArgument: number;
  /** Milliseconds between two exports. */
  readonly sendEveryMs: number;
}

const SEND_EVERY_MS = 2_000;

/** The tracing configuration of a process, `name` by default; undefined = off. Throws ConfigError. */
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
  // Registered as a whole and percent-encoded so far; requests carry each value decoded.
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
