/** OpenTelemetry's SDK behind the Tracing port. open.ts loads it only if a collector is configured. */
import { randomUUID } from "node:crypto";
import {
  type Context,
  createContextKey,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  trace,
} from "@opentelemetry/api";
import { ExportResultCode, W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { VERSION } from "../process/version.ts";
import type { SamplerName, TracingConfig } from "./config.ts";
import type { Parent, Tracing } from "./tracing.ts";

export interface SdkOptions {
  readonly config: TracingConfig;
  /** Whether the caller's sampling flag is obeyed; its trace ids are used in any case. */
  readonly trustsCallers: boolean;
  /** Called for every batch that was sent or failed. */
  readonly onExport: (result: { spans: number; error: Error | undefined }) => void;
  /** Called for each span that the full queue drops. */
  readonly onDrop: () => void;
}

/** A collector that does not respond must not delay the end of a process. */
const CLOSE_MS = 2_000;
const EXPORT_TIMEOUT_MS = 5_000;
/** Queue of spans to be sent; further ones are dropped (`trace_spans_total`), as is what the collector does not take in time. */
const MAX_WAITING_SPANS = 2_048;

export function startSdk(options: SdkOptions): Tracing {
  const { config, trustsCallers } = options;
  const sampler = SAMPLERS[config.sampler](config.samplerArgument);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      ...config.resourceAttributes,
      "service.name": config.serviceName,
      "service.version": VERSION,
      "service.instance.id": randomUUID(),
    }),
    sampler: trustsCallers ? sampler : ignoringCallers(sampler),
    spanLimits: { attributeValueLengthLimit: 256 },
    spanProcessors: [createQueue(options)],
  });
  const tracer = provider.getTracer("chaintables", VERSION);
  const propagator = new W3CTraceContextPropagator();

  const contextOf = (parent: Parent | undefined): Context => {
    if (parent === undefined) return ROOT_CONTEXT;
    if ("span" in parent) return trace.setSpan(ROOT_CONTEXT, parent.span);
    return propagator.extract(ROOT_CONTEXT.setValue(FROM_CALLER, true), parent.headers, defaultTextMapGetter);
  };
  return {
    startSpan: (name, { parent, ...options }) => tracer.startSpan(name, options, contextOf(parent)),
    propagationHeaders(span) {
      const headers: Record<string, string> = {};
      propagator.inject(trace.setSpan(ROOT_CONTEXT, span), headers, defaultTextMapSetter);
      return headers;
    },
    async close() {
      const timeout = new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref());
      await Promise.race([provider.shutdown().catch(() => {}), timeout]);
    },
  };
}

const FROM_CALLER = createContextKey("the parent was named by a caller");

const onTraceId = (ratio: number) => new TraceIdRatioBasedSampler(ratio);
const SAMPLERS: Readonly<Record<SamplerName, (argument: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: onTraceId,
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (ratio) => new ParentBasedSampler({ root: onTraceId(ratio) }),
};

/**
 * Samples a caller's trace as if it started here, by a random id: otherwise a caller could set the flag, or choose an id
 * that is always sampled, and decide how much is recorded.
 */
function ignoringCallers(sampler: Sampler): Sampler {
  const ids = new RandomIdGenerator();
  return {
    shouldSample(...input: Parameters<Sampler["shouldSample"]>) {
      const [context, , ...rest] = input;
      if (context.getValue(FROM_CALLER) === undefined) return sampler.shouldSample(...input);
      return sampler.shouldSample(ROOT_CONTEXT, ids.generateTraceId(), ...rest);
    },
    toString: () => `IgnoringCallers{${sampler.toString()}}`,
  };
}

/** Exports spans in batches; counts dropped spans itself, since the SDK's queue does not report them. */
function createQueue({ config, onExport, onDrop }: SdkOptions): SpanProcessor {
  const exporter = new OTLPTraceExporter({
    url: config.tracesUrl,
    headers: { ...config.headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  let waiting = 0;
  const watched: SpanExporter = {
    export(spans, done) {
      waiting -= spans.length;
      exporter.export(spans, (result) => {
        const isSent = result.code === ExportResultCode.SUCCESS;
        onExport({
          spans: spans.length,
          error: isSent ? undefined : (result.error ?? new Error("not sent")),
        });
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
  const batches = new BatchSpanProcessor({
    exporter: watched,
    scheduledDelayMillis: config.sendEveryMs,
    exportTimeoutMillis: EXPORT_TIMEOUT_MS,
    maxQueueSize: MAX_WAITING_SPANS,
  });
  return {
    onStart() {},
    onEnd(span) {
      if (waiting >= MAX_WAITING_SPANS) {
        onDrop();
        return;
      }
      waiting += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  };
}
