/**
 * Spans of gRPC calls, client and server, by OpenTelemetry's semantic conventions: the older names (`rpc.system`,
 * `rpc.grpc.status_code`), which today's tools know.
 */
import type { Metadata } from "@grpc/grpc-js";
import { type Span, SpanKind } from "@opentelemetry/api";
import { activeSpan } from "./active.ts";
import { markSpanFailed, type Tracing } from "./tracing.ts";

/** OK of gRPC's status codes. */
const OK = 0;
/** Status codes that are the server's failure: UNKNOWN, DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS. */
const SERVER_FAILURES = new Set([2, 4, 12, 13, 14, 15]);

/** Starts the span of a call and adds it to the call's metadata; only for calls on behalf of a span. */
export function startGrpcClientSpan(
  tracing: Tracing | undefined,
  { path, target, metadata }: { path: string; target: string; metadata: Metadata },
): Span | undefined {
  const parent = tracing && activeSpan();
  if (tracing === undefined || parent === undefined) return undefined;
  const span = tracing.startSpan(path.slice(1), { kind: SpanKind.CLIENT, parent: { span: parent } });
  if (span.isRecording()) span.setAttributes({ ...describe(path), ...addressOf(target) });
  for (const [name, value] of Object.entries(tracing.propagationHeaders(span))) metadata.set(name, value);
  return span;
}

/** Starts the span of an incoming call as a child of the caller's. */
export function startGrpcServerSpan(
  tracing: Tracing | undefined,
  { path, metadata }: { path: string; metadata: Metadata },
): Span | undefined {
  if (tracing === undefined) return undefined;
  const read = (name: string) => metadata.get(name)[0]?.toString();
  const span = tracing.startSpan(path.slice(1), {
    kind: SpanKind.SERVER,
    parent: { headers: { traceparent: read("traceparent"), tracestate: read("tracestate") } },
  });
  if (span.isRecording()) span.setAttributes(describe(path));
  return span;
}

/** Ends either span; `code` is gRPC's. */
export function endGrpcSpan(span: Span | undefined, code: number, kind: "client" | "server"): void {
  if (span === undefined) return;
  span.setAttribute("rpc.grpc.status_code", code);
  if (code !== OK && (kind === "client" || SERVER_FAILURES.has(code))) markSpanFailed(span, String(code));
  span.end();
}

/** `/package.Service/Method` in parts. */
function describe(path: string): Record<string, string> {
  const [, service = "", method = ""] = path.split("/");
  return { "rpc.system": "grpc", "rpc.service": service, "rpc.method": method };
}

/** Of host:port, or a target with a scheme such as dns:///host:port. */
function addressOf(target: string): Record<string, string | number> {
  const plain = target.replace(/^[a-z0-9]+:(\/\/[^/]*\/)?(?=.*:\d)/i, "");
  const at = plain.lastIndexOf(":");
  return { "server.address": plain.slice(0, at), "server.port": Number(plain.slice(at + 1)) };
}
