import { SpanKind } from "@opentelemetry/api";
import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import { ServiceError } from "../errors.ts";
import { createPricesClient, createStatusClient } from "../grpc/client.ts";
import { startGrpcServer } from "../grpc/server.ts";
import type { PricesResponse } from "../grpc/types.ts";
import { createMetrics } from "../metrics/metrics.ts";
import { handle } from "../service/handlers.ts";
import { collection } from "../storage/collection.ts";
import { openSqliteStore } from "../storage/sqlite/store.ts";
import { describeLong } from "../testkit/describe.ts";
import {
  collectingLog,
  itemEndpoint,
  listEndpoint,
  startTestApp,
  type TestApp,
  until,
} from "../testkit/fixture.ts";
import { activeSpan } from "./active.ts";
import { openTracing } from "./open.ts";
import { traceStore } from "./store.ts";
import { startTestCollector, type TestCollector } from "./testkit/collector.ts";
import { tracingConfig } from "./testkit/config.ts";
import { linkActiveSpan, type Tracing, withRootSpan, withSpan } from "./tracing.ts";

const THEIRS = { trace: "4bf92f3577b34da6a3ce929d0e0e4736", span: "00f067aa0ba902b7" };
const parentOf = (flags: string) => `00-${THEIRS.trace}-${THEIRS.span}-${flags}`;
const things = collection({
  name: "things",
  fields: { id: "int", name: "text" },
  key: ["id"],
  indexes: [],
  shardKey: ["id"],
});

describeLong("traces", () => {
  let collector: TestCollector;
  const closing: (() => Promise<unknown>)[] = [];
  const lines: Record<string, unknown>[] = [];
  beforeEach(async () => {
    lines.length = 0;
    collector = await startTestCollector();
    closing.push(() => collector.stop());
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  const open = async (changes: Parameters<typeof tracingConfig>[1] & { trustsCallers?: boolean } = {}) => {
    const { trustsCallers = true, ...config } = changes;
    const metrics = createMetrics({ name: "evm-dex" });
    const tracing = (await openTracing({
      ...{ config: tracingConfig(collector.url, config), trustsCallers, metrics },
      log: collectingLog(lines),
    })) as Tracing;
    closing.push(() => tracing.close());
    return { tracing, metrics };
  };
  const startApp = async (tracing: Tracing | undefined, options: Parameters<typeof startTestApp>[0] = {}) => {
    const app = await startTestApp({ tracing, ...options });
    closing.push(() => app.close());
    return app;
  };
  const found = async (count: number) => {
    await until(() => collector.spans.length >= count);
    return collector.spans;
  };
  const accessLine = async ({ lines: entries }: TestApp) => {
    await until(() => entries.some(({ msg }) => msg === "request"));
    return entries.find(({ msg }) => msg === "request");
  };

  it("are not made where no collector is named", async () => {
    const metrics = createMetrics({ name: "evm-dex" });
    const options = { config: undefined, trustsCallers: true, log: collectingLog(lines), metrics };
    expect(await openTracing(options)).to.equal(undefined);
    const app = await startApp(undefined);
    await fetch(`${app.url}/test/things?chain_id=1`, { headers: { traceparent: parentOf("01") } });
    expect(await accessLine(app)).not.to.have.property("traceId");
    expect(withSpan(undefined, { name: "step" }, (span) => span)).to.equal(undefined);
    expect(await withRootSpan(undefined, { name: "trace" }, async (span) => span)).to.equal(undefined);
    const store = await openSqliteStore({ path: ":memory:" });
    expect(traceStore(store, undefined)).to.equal(store);
    await store.close();
    expect(await metrics.render()).not.to.contain("trace_spans_total");
  });

  it("have the request, its rows, its reads and its table in one tree below the caller's span", async () => {
    const { tracing } = await open();
    const memory = await openSqliteStore({ path: ":memory:" });
    await memory.declare([things]);
    const store = traceStore(memory, tracing);
    const handler = handle(listEndpoint, async () => {
      // A line of a request, wherever it is written, names its trace.
      collectingLog(lines).info("reading");
      await Promise.all([store.find(things, {}), store.get(things, { id: 1 })]);
      return { rows: [] };
    });
    const app = await startApp(tracing, { handlers: Object.fromEntries([handler]) });
    const headers = { traceparent: parentOf("01"), tracestate: "vendor=word" };
    const url = `${app.url}/test/things?chain_id=1&api_key=ct_secret`;
    expect((await fetch(url, { headers })).status).to.equal(200);

    const spans = await found(5);
    const byName = new Map(spans.map((span) => [span.name, span]));
    const idOf = (name: string) => byName.get(name)?.spanId;
    const tree = spans.map(({ name, kind, parentSpanId }) => ({ name, kind, parentSpanId }));
    const root = "GET /test/things";
    expect(tree).to.have.deep.members([
      { name: root, kind: "server", parentSpanId: THEIRS.span },
      { name: "read rows", kind: "internal", parentSpanId: idOf(root) },
      { name: "find things", kind: "client", parentSpanId: idOf("read rows") },
      { name: "get things", kind: "client", parentSpanId: idOf("read rows") },
      { name: "render table", kind: "internal", parentSpanId: idOf(root) },
    ]);
    for (const { traceId, service, traceState } of spans)
      expect({ traceId, service, traceState }).to.deep.equal({
        ...{ traceId: THEIRS.trace, service: "evm-dex", traceState: "vendor=word" },
      });
    expect(byName.get(root)?.attributes).to.deep.include({
      "http.request.method": "GET",
      "http.route": "/test/things",
      "url.path": "/test/things",
      "http.response.status_code": 200,
    });
    expect(byName.get("find things")?.attributes).to.deep.equal({
      "db.system.name": "sqlite",
      "db.operation.name": "find",
      "db.collection.name": "things",
      "db.response.returned_rows": 0,
    });
    expect(JSON.stringify(collector.requests.map(({ body }) => body))).not.to.contain("secret");
    const line = await accessLine(app);
    expect(line?.traceId).to.equal(THEIRS.trace);
    expect(line?.session).to.equal(byName.get(root)?.attributes["chaintables.session"]);
    expect(lines.find(({ msg }) => msg === "reading")?.traceId).to.equal(THEIRS.trace);
    await memory.close();
  });

  it("name failures by our error codes, and nothing of a path that we do not serve", async () => {
    const { tracing } = await open();
    const handlers = Object.fromEntries([
      handle(listEndpoint, async () => Promise.reject(new Error("password=hunter2"))),
      handle(itemEndpoint, async () => Promise.reject(new ServiceError("not_found", "No hunter2."))),
    ]);
    const app = await startApp(tracing, { handlers });
    const item = `/test/thing?chain_id=1&pool_address=0x${"11".repeat(20)}`;
    for (const path of ["/test/things?chain_id=1", item, "/hunter2", "/livez", "/readyz", "/metrics"])
      await fetch(app.url + path);
    const servers = () => collector.spans.filter(({ kind }) => kind === "server");
    await until(() => servers().length >= 3);
    await tracing.close();
    const reported = servers().map(({ name, isFailed, attributes, parentSpanId }) => ({
      ...{ name, isFailed, parentSpanId },
      ...{ status: attributes["http.response.status_code"], errorType: attributes["error.type"] },
    }));
    expect(reported).to.have.deep.members([
      { name: "GET /test/things", isFailed: true, parentSpanId: "", status: 500, errorType: "internal" },
      { name: "GET /test/thing", isFailed: false, parentSpanId: "", status: 404, errorType: "not_found" },
      { name: "GET", isFailed: false, parentSpanId: "", status: 404, errorType: "not_found" },
    ]);
    expect(JSON.stringify(collector.requests.map(({ body }) => body))).not.to.contain("hunter2");
  });

  it("are not recorded where the caller does not record them, and go on under its ids", async () => {
    const { tracing } = await open();
    let carried: Readonly<Record<string, string>> = {};
    const handler = handle(listEndpoint, async () => {
      carried = tracing.propagationHeaders(activeSpan() as NonNullable<ReturnType<typeof activeSpan>>);
      return { rows: [] };
    });
    const app = await startApp(tracing, { handlers: Object.fromEntries([handler]) });
    await fetch(`${app.url}/test/things?chain_id=1`, { headers: { traceparent: parentOf("00") } });
    expect((await accessLine(app))?.traceId).to.equal(THEIRS.trace);
    expect(carried.traceparent).to.match(new RegExp(`^00-${THEIRS.trace}-[0-9a-f]{16}-00$`));
    await tracing.close();
    expect(collector.spans).to.deep.equal([]);
  });

  it("of callers that are not trusted are recorded as we decide, whatever ids and flags they send", async () => {
    const nothing = await open({ trustsCallers: false, sampler: "parentbased_always_off" });
    const everything = await open({ trustsCallers: false, sampler: "parentbased_always_on" });
    // Every ratio takes this id.
    const headers = { traceparent: `00-${"0".repeat(31)}1-${THEIRS.span}-01` };
    const half = await open({ trustsCallers: false, sampler: "traceidratio", samplerArgument: 0.5 });
    const begin = (tracing: Tracing, traceparent = headers.traceparent) =>
      tracing.startSpan("request", { kind: SpanKind.SERVER, parent: { headers: { traceparent } } });
    expect(begin(nothing.tracing).isRecording()).to.equal(false);
    expect(begin(everything.tracing, parentOf("00")).isRecording()).to.equal(true);
    expect(begin(everything.tracing, parentOf("00")).spanContext().traceId).to.equal(THEIRS.trace);
    const taken = Array.from({ length: 400 }, () => begin(half.tracing)).filter((span) => span.isRecording());
    expect(taken.length).to.be.within(100, 300);
    // Child spans follow the decision.
    const child = half.tracing.startSpan("step", {
      kind: SpanKind.INTERNAL,
      parent: { span: taken[0] as NonNullable<(typeof taken)[0]> },
    });
    expect(child.isRecording()).to.equal(true);
  });

  it("begin anew where a caller's header is no traceparent", async () => {
    const { tracing } = await open({ trustsCallers: false });
    const wrong = ["", "x", parentOf("01").toUpperCase(), `00-${"0".repeat(32)}-${THEIRS.span}-01`];
    const longer = [`${parentOf("01")}-more`, `ff${parentOf("01").slice(2)}`];
    for (const traceparent of [...wrong, ...longer]) {
      const span = tracing.startSpan("request", {
        kind: SpanKind.SERVER,
        parent: { headers: { traceparent } },
      });
      expect(span.spanContext().traceId).to.match(/^[0-9a-f]{32}$/);
      expect(span.spanContext().traceId).not.to.equal(THEIRS.trace);
    }
  });

  it("go through gRPC: the client's span below its caller's, the server's below the client's", async () => {
    const { tracing } = await open({ name: "lending" });
    const { tracing: theirs } = await open({ name: "evm-dex" });
    const answer: PricesResponse = { block: 7, blockTime: 8, prices: [] };
    const server = await startGrpcServer({
      ...{ host: "127.0.0.1", port: 0, tracing: theirs },
      services: {
        status: { getStatus: () => Promise.reject(new ServiceError("unavailable", "Not yet.")) },
        health: async () => true,
        prices: { getPrices: async () => withSpan(theirs, { name: "read prices" }, async () => answer) },
      },
    });
    closing.push(() => server.stop({ timeoutMs: 100 }));
    const prices = createPricesClient(server.address, { tracing });
    const status = createStatusClient(server.address, { tracing });
    closing.push(async () => [prices, status].map((client) => client.close()));
    await withRootSpan(tracing, { name: "refresh" }, () => prices.getPrices({ chainId: 1, tokens: [] }));
    await withRootSpan(tracing, { name: "look" }, () => status.getStatus().catch(() => {}));
    // Without a caller: only the other end reports, and it cannot know.
    await prices.getPrices({ chainId: 1, tokens: [] });

    const spans = await found(9);
    const own = (name: string, kind: string, service: string) =>
      spans.filter((span) => span.name === name && span.kind === kind && span.service === service);
    const method = "chaintables.v1.Prices/GetPrices";
    const [root] = own("refresh", "internal", "lending");
    const [client, ...others] = own(method, "client", "lending");
    expect(others).to.deep.equal([]);
    const [below] = own(method, "server", "evm-dex").filter(({ traceId }) => traceId === root?.traceId);
    const [read] = own("read prices", "internal", "evm-dex").filter(
      ({ traceId }) => traceId === root?.traceId,
    );
    expect([root, client, below, read].map((span) => span?.parentSpanId)).to.deep.equal([
      ...["", root?.spanId, client?.spanId, below?.spanId],
    ]);
    const call = {
      "rpc.system": "grpc",
      "rpc.service": "chaintables.v1.Prices",
      "rpc.method": "GetPrices",
      "rpc.grpc.status_code": 0,
    };
    const [host, port] = server.address.split(":");
    expect(below?.attributes).to.deep.equal(call);
    expect(client?.attributes).to.deep.equal({
      ...call,
      "server.address": host,
      "server.port": Number(port),
    });
    const looks = spans.filter(({ name }) => name === "chaintables.v1.Status/GetStatus");
    expect(looks.map(({ attributes }) => attributes["rpc.grpc.status_code"])).to.deep.equal([14, 14]);
    expect(looks.every(({ isFailed }) => isFailed)).to.equal(true);
  });

  it("are linked where one depends on another", async () => {
    const { tracing } = await open();
    const first = withRootSpan(tracing, { name: "first" }, (span) => span?.spanContext());
    withRootSpan(tracing, { name: "second" }, () => {
      linkActiveSpan(first);
      linkActiveSpan(undefined);
    });
    const second = (await found(2)).find(({ name }) => name === "second");
    expect(second?.links).to.deep.equal([{ traceId: first?.traceId, spanId: first?.spanId }]);
    expect(second?.traceId).not.to.equal(first?.traceId);
  });

  it("are sent with the headers and under the name that are configured, the last of them at the end", async () => {
    const { tracing, metrics } = await open({
      ...{ sendEveryMs: 3_600_000, headers: { authorization: "Bearer abc" } },
      ...{ serviceName: "mine", resourceAttributes: { "deployment.environment.name": "test" } },
    });
    for (let n = 0; n < 100; n++) withRootSpan(tracing, { name: "work" }, () => {});
    expect(collector.requests).to.deep.equal([]);
    await tracing.close();
    expect(collector.spans).to.have.length(100);
    expect(collector.spans[0]?.service).to.equal("mine");
    expect(collector.requests[0]?.headers.authorization).to.equal("Bearer abc");
    expect(collector.requests[0]?.body).to.contain("deployment.environment.name");
    expect(await metrics.render()).to.match(/trace_spans_total\{outcome="sent",service="evm-dex"\} 100/);
    expect(await metrics.render()).not.to.match(/outcome="(lost|dropped)"/);
  });

  for (const behave of ["refuse", "never", "gone"] as const) {
    it(`a collector that is ${behave === "gone" ? behave : `there and answers "${behave}"`} disturbs no request`, async () => {
      const { tracing, metrics } = await open();
      if (behave === "gone") await collector.stop();
      else collector.behave = behave;
      const app = await startApp(tracing);
      for (let n = 0; n < 20; n++)
        expect((await fetch(`${app.url}/test/things?chain_id=1`)).status).to.equal(200);
      // With the requests' own three each, more than may wait: the others are dropped, and memory stays bounded.
      for (let n = 0; n < 5_000; n++) withRootSpan(tracing, { name: "work" }, () => {});
      const dropped = /trace_spans_total\{outcome="dropped",service="evm-dex"\} (\d+)/;
      expect(Number(dropped.exec(await metrics.render())?.[1])).to.be.within(
        5_000 - 2_048 - 512,
        5_060 - 2_048,
      );
      if (behave === "refuse") {
        await until(() => lines.some(({ msg }) => msg === "traces cannot be sent to the collector"));
        expect(await metrics.render()).to.match(
          /trace_spans_total\{outcome="lost",service="evm-dex"\} [1-9]/,
        );
      }
      collector.behave = "take";
      await tracing.close();
      expect(collector.spans.length).to.be.at.most(2_048 + 512);
    });
  }
});
