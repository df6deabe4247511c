import { decimal, InvalidSetting, oneOf, type Parse, type Settings, text, url } from "./env.ts";

const tracedProcesses = ["gateway", "evm-dex", "lending", "solana", "facilitator"];

/** The samplers of OpenTelemetry's specification for ratio and all-or-nothing sampling. */
export const SAMPLER_NAMES = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** Settings of tracing, with OpenTelemetry's names: part of SETTINGS. */
export const TRACING_SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    parse: url(["http", "https"]),
    usedBy: tracedProcesses,
    meaning:
      "Base URL of an OpenTelemetry collector that takes traces by OTLP/HTTP with JSON (at /v1/traces), such as http://collector:4318; unset = nothing is traced",
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    parse: keyValues(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "header=value, such as authorization=Bearer%20abc"),
    secret: true,
    usedBy: tracedProcesses,
    meaning: "Headers sent to the collector, header=value, comma-separated, values percent-encoded",
  },
  OTEL_SERVICE_NAME: {
    parse: text(),
    usedBy: tracedProcesses,
    meaning: "Name of the process in traces; unset = gateway, evm-dex, lending, solana or facilitator",
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    parse: keyValues(
      /^[\x21-\x2b\x2d-\x3c\x3e-\x7e]+$/,
      "name=value, such as deployment.environment.name=test",
    ),
    usedBy: tracedProcesses,
    meaning:
      "What else traces say of the process, name=value, comma-separated, values percent-encoded, such as deployment.environment.name=test",
  },
  OTEL_TRACES_SAMPLER: {
    parse: oneOf(SAMPLER_NAMES),
    default: "parentbased_always_on",
    usedBy: tracedProcesses,
    meaning: `Which traces are recorded: ${SAMPLER_NAMES.join(", ")}; the gateway decides for itself, whatever a client's traceparent says`,
  },
  OTEL_TRACES_SAMPLER_ARG: {
    parse: decimal({ min: 0, max: 1, decimals: 6 }),
    default: "1",
    usedBy: tracedProcesses,
    meaning: "Part of the traces that the samplers with traceidratio record, 0 to 1",
  },
} as const satisfies Settings;

/** Comma-separated `name=value` items with percent-encoded values, no name twice. `rule` describes an item. */
function keyValues(name: RegExp, rule: string): Parse<readonly (readonly [name: string, value: string])[]> {
  return (text) => {
    const read = text.split(",").map((item) => {
      const at = item.indexOf("=");
      const key = item.slice(0, Math.max(0, at)).trim();
      const value = decode(item.slice(at + 1).trim());
      if (!name.test(key) || value === undefined || /[\r\n\0]/.test(value))
        throw new InvalidSetting(`a comma-separated list, each item ${rule}`);
      return [key, value] as const;
    });
    if (new Set(read.map(([key]) => key)).size < read.length)
      throw new InvalidSetting("a comma-separated list that names nothing twice");
    return read;
  };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
