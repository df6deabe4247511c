import { type Attributes, SpanKind } from "@opentelemetry/api";
import type { Collection } from "../storage/collection.ts";
import type { Store } from "../storage/port.ts";
import { READS, storeWith } from "../storage/within.ts";
import { activeSpan } from "./active.ts";
import { type Tracing, withSpan } from "./tracing.ts";

/** A store whose reads for a traced request have spans; the same store while tracing is off. */
export function traceStore(store: Store, tracing: Tracing | undefined): Store {
  if (tracing === undefined) return store;
  return storeWith(store, {
    ...Object.fromEntries(READS.map((name) => [name, traceRead(store, name, tracing)])),
    snapshot: (target, key, read) => store.snapshot(target, key, (view) => read(traceStore(view, tracing))),
    within: (signal) => traceStore(store.within(signal), tracing),
  });
}

type Read = (from: Collection, ...rest: unknown[]) => Promise<unknown>;

function traceRead(store: Store, name: (typeof READS)[number], tracing: Tracing): Read {
  const read = (store[name] as Read).bind(store);
  return (from, ...rest) => {
    if (activeSpan()?.isRecording() !== true) return read(from, ...rest);
    const attributes: Attributes = {
      "db.system.name": store.engine,
      "db.operation.name": name,
      "db.collection.name": from.name,
    };
    const step = { name: `${name} ${from.name}`, kind: SpanKind.CLIENT, attributes };
    return withSpan(tracing, step, async (span) => {
      const result = await read(from, ...rest);
      if (Array.isArray(result)) span?.setAttribute("db.response.returned_rows", result.length);
      return result;
    });
  };
}
