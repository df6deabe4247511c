import { AsyncLocalStorage } from "node:async_hooks";
import type { Span } from "@opentelemetry/api";

const storage = new AsyncLocalStorage<Span>();

/** The span that the code at hand works for; undefined outside of all, and wherever nothing is traced. */
export function activeSpan(): Span | undefined {
  return storage.getStore();
}

/** Runs the work, and all that it begins, for a span; where there is none, as it is. */
export function runWithSpan<T>(span: Span | undefined, work: () => T): T {
  return span === undefined ? work() : storage.run(span, work);
}
