import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as a collector receives it. */
export interface CollectedSpan {
  /** Name of the process that made it. */
  readonly service: string;
  readonly name: string;
  readonly kind: "internal" | "server" | "client";
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly isFailed: boolean;
}

/** Takes traces by OTLP/HTTP with JSON, as an OpenTelemetry collector does. */
export interface TestCollector {
  readonly url: string;
  /** In the order in which they came. */
  readonly spans: CollectedSpan[];
  /** Of every request, oldest first. */
  readonly requests: { readonly headers: IncomingHttpHeaders; readonly body: string }[];
  /** How requests are answered from now on; "never" leaves them open. */
  behave: "take" | "refuse" | "never";
  stop(): Promise<void>;
}

export async function startTestCollector(): Promise<TestCollector> {
  const server = createServer((req, res) => {
    let body = "";
    req.setEncoding("utf8");
    req.on("data", (chunk) => (body += chunk));
    req.on("end", () => {
      collector.requests.push({ headers: req.headers, body });
      answer(req.url ?? "", body, res);
    });
  });
  const answer = (url: string, body: string, res: ServerResponse): void => {
    if (collector.behave === "never") return;
    const isTaken = collector.behave === "take" && url === "/v1/traces";
    if (isTaken) collector.spans.push(...readSpans(JSON.parse(body)));
    res.writeHead(isTaken ? 200 : 400, { "Content-Type": "application/json" });
    res.end("{}");
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const collector: TestCollector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    requests: [],
    behave: "take",
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return collector;
}

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}
interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly name: string;
        readonly kind: number;
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly traceState?: string;
        readonly attributes: readonly Attribute[];
        readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
        readonly status: { readonly code: number };
      }[];
    }[];
  }[];
}

/** By OTLP's numbers; 2 of a status is "error". */
const KINDS = ["internal", "internal", "server", "client"] as const;
const FAILED = 2;

function readSpans({ resourceSpans }: Sent): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(readAttributes(resource.attributes)["service.name"]);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ name, kind, traceId, spanId, parentSpanId, traceState, attributes, links, status }) => ({
        ...{ service, name, kind: KINDS[kind] ?? "internal", traceId, spanId },
        parentSpanId: parentSpanId ?? "",
        traceState: traceState ?? "",
        attributes: readAttributes(attributes),
        links: (links ?? []).map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
        isFailed: status.code === FAILED,
      })),
    );
  });
}

/** Each value is in an object that names its type. */
function readAttributes(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
