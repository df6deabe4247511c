import {
  type Attributes,
  type Link,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
} from "@opentelemetry/api";
import { activeSpan, runWithSpan } from "./active.ts";

/** Headers that propagate a trace between processes (W3C Trace Context), names in lower case. */
export interface TraceHeaders {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** The parent of a span: a span of this process, or the caller's span from its headers. */
export type Parent = { readonly span: Span } | { readonly headers: TraceHeaders };

export interface NewSpan {
  readonly kind: SpanKind;
  /** Absent = the span starts a trace. */
  readonly parent?: Parent | undefined;
  readonly attributes?: Attributes;
  readonly links?: Link[];
}

/**
 * The tracer of one part of the product. Every user accepts `undefined` too: then tracing is off, no span is created, and
 * no code of OpenTelemetry's SDK is loaded.
 */
export interface Tracing {
  /** Starts a span, which the caller must end. The sampler decides here whether it is recorded (`isRecording`). */
  startSpan(name: string, options: NewSpan): Span;
  /** Headers that make spans of the called process children of this one. */
  propagationHeaders(span: Span): Readonly<Record<string, string>>;
  /** Exports recorded spans, for at most 2 s; spans that end later are lost. Never rejects. */
  close(): Promise<void>;
}

/**
 * Runs work in a child of the active span; without a recorded active span, just runs it. If `work` returns a promise, the
 * span lasts until it settles.
 */
export function withSpan<T>(
  tracing: Tracing | undefined,
  { name, kind = SpanKind.INTERNAL, attributes }: { name: string; kind?: SpanKind; attributes?: Attributes },
  work: (span: Span | undefined) => T,
): T {
  const parent = tracing && activeSpan();
  if (tracing === undefined || !parent?.isRecording()) return work(undefined);
  const span = tracing.startSpan(name, { kind, parent: { span: parent }, ...(attributes && { attributes }) });
  return runToEnd(span, work);
}

/** Runs work outside of any request in a new trace. */
export function withRootSpan<T>(
  tracing: Tracing | undefined,
  { name, attributes }: { name: string; attributes?: Attributes },
  work: (span: Span | undefined) => T,
): T {
  if (tracing === undefined) return work(undefined);
  return runToEnd(
    tracing.startSpan(name, { kind: SpanKind.INTERNAL, ...(attributes && { attributes }) }),
    work,
  );
}

function runToEnd<T>(span: Span, work: (span: Span) => T): T {
  const fail = (error: unknown): never => {
    markSpanFailed(span, errorTypeOf(error));
    span.end();
    throw error;
  };
  try {
    const done = runWithSpan(span, () => work(span));
    if (done instanceof Promise) {
      return done.then((value) => {
        span.end();
        return value;
      }, fail) as T;
    }
    span.end();
    return done;
  } catch (error) {
    return fail(error);
  }
}

/** Marks a span as failed. Without the message, which may contain client data. */
export function markSpanFailed(span: Span, errorType: string): void {
  span.setAttribute("error.type", errorType);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** The kind of an error, from a small set of names. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  // ServiceError: its code is more specific than its name.
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** Links the active span to a span of another trace that its work depends on, if that one is recorded. */
export function linkActiveSpan(context: SpanContext | undefined): void {
  if (context === undefined || (context.traceFlags & TraceFlags.SAMPLED) === 0) return;
  activeSpan()?.addLink({ context });
}
