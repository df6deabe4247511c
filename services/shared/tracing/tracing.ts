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

/** Headers that carry a trace from process to process (W3C Trace Context), names in lower case. */
export interface TraceHeaders {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** What a span comes from: a span of this process, or one of the caller's that its headers name. */
export type Parent = { readonly span: Span } | { readonly headers: TraceHeaders };

export interface NewSpan {
  readonly kind: SpanKind;
  /** Absent = the span begins a trace. */
  readonly parent?: Parent | undefined;
  readonly attributes?: Attributes;
  readonly links?: Link[];
}

/**
 * Traces of one part of the product. Whoever takes one takes `undefined` too: then nobody asked for traces, nothing is
 * made, and no code of OpenTelemetry's SDK is loaded.
 */
export interface Tracing {
  /** Begins a span; who begins it ends it. Whether it is recorded is decided here (`isRecording`). */
  startSpan(name: string, of: NewSpan): Span;
  /** Headers that make the other end's spans children of this one. */
  propagationHeaders(span: Span): Readonly<Record<string, string>>;
  /** Sends what was recorded, for a bounded time; spans that end later are lost. Never rejects. */
  close(): Promise<void>;
}

/**
 * Runs a step of the work at hand in a span of its own, below the active one; without a span that is recorded, just
 * runs it. `work` may answer a promise: the span then lasts until it settles.
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

/** Runs work that no request asked for, as a trace of its own. */
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

/** Says of a span that it failed. Messages stay out: they may hold words of others. */
export function markSpanFailed(span: Span, errorType: string): void {
  span.setAttribute("error.type", errorType);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** A word of few that tells what kind of failure it was. */
export function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  // ServiceError: its code says more than its name.
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** Tells the active span what else its work rests on: a span of another trace. Only one that is recorded is worth it. */
export function linkActiveSpan(context: SpanContext | undefined): void {
  if (context === undefined || (context.traceFlags & TraceFlags.SAMPLED) === 0) return;
  activeSpan()?.addLink({ context });
}
