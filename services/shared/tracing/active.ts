import { AsyncLocalStorage } from "node:async_hooks";
import type { Span } from "@opentelemetry/api";

const storage = new AsyncLocalStorage<Span>();

/** The span of the current async context; undefined outside of spans, and while tracing is off. */
export function activeSpan(): Span | undefined {
  return storage.getStore();
}

/** Runs the work, and everything it starts, with `span` as the active span; without one, just runs it. */
export function runWithSpan<T>(span: Span | undefined, work: () => T): T {
  return span === undefined ? work() : storage.run(span, work);
}
