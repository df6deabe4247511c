import { expect } from "chai";
import { after, afterEach, before, beforeEach, describe, it } from "mocha";
import { createLog } from "../../services/shared/logging/log.ts";
import { describeWithChain } from "../../services/shared/testkit/describe.ts";
import {
  type CollectedSpan,
  startTestCollector,
  type TestCollector,
} from "../../services/shared/tracing/testkit/collector.ts";
import { tracingConfig } from "../../services/shared/tracing/testkit/config.ts";
import { readFacilitatorConfig, startFacilitator } from "../payments/facilitator/service.ts";
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import {
  type PaymentEnvironment,
  startPayGateway,
  startPaymentEnvironment,
} from "../testkit/payments/payment-gateway.ts";
import { until } from "../testkit/until.ts";
import { answerError, answerTable, mediaTypeOf, TABLE_TEXT } from "../testkit/upstream.ts";

const POOL = "/evm/dexb/v3/pool";
const QUERY = `pool_address=0x${"ab".repeat(20)}`;
const THEIRS = { trace: "4bf92f3577b34da6a3ce929d0e0e4736", span: "00f067aa0ba902b7" };
const HEADERS = { traceparent: `00-${THEIRS.trace}-${THEIRS.span}-00`, tracestate: "vendor=word" };

describeWithChain("gateway: traces", () => {
  let collector: TestCollector;
  let gateway: TestGateway | undefined;
  beforeEach(async () => {
    collector = await startTestCollector();
  });
  afterEach(async () => {
    await gateway?.stop();
    gateway = undefined;
    await collector.stop();
  });

  const start = async (cacheBytes = 0) => {
    const tracing = tracingConfig(collector.url, { name: "gateway" });
    gateway = await startTestGateway({ config: { tracing, cacheBytes } });
    return gateway;
  };
  /** The spans of a request, its own first, once that has ended: it is the last one to end. */
  const spansOf = async (answer: Response): Promise<[CollectedSpan, ...CollectedSpan[]]> => {
    await answer.text();
    const session = answer.headers.get("x-session-id");
    const isOwn = ({ attributes }: CollectedSpan) => attributes["chaintables.session"] === session;
    await until(() => collector.spans.some(isOwn));
    const own = collector.spans.find(isOwn) as CollectedSpan;
    return [own, ...collector.spans.filter((span) => span.traceId === own.traceId && span !== own)];
  };
  const lineOf = async ({ lines }: TestGateway, answer: Response) => {
    const session = answer.headers.get("x-session-id");
    const isOwn = (line: Record<string, unknown>) => line.session === session && line.msg === "request";
    await until(() => lines.some(isOwn));
    return lines.find(isOwn);
  };

  it("begin below the client's span and continue at the service, recorded as the gateway decides", async () => {
    const started = await start();
    const { get, evmDex } = started;
    const answer = await get(`${POOL}?${QUERY}&api_key=hunter2`, { headers: HEADERS });
    expect(answer.status).to.equal(200);
    const [server, client, ...more] = await spansOf(answer);
    expect(more).to.deep.equal([]);
    expect(server).to.deep.include({
      ...{ service: "gateway", name: `GET ${POOL}`, kind: "server", isFailed: false },
      ...{ traceId: THEIRS.trace, parentSpanId: THEIRS.span, traceState: "vendor=word" },
    });
    expect(server.attributes).to.deep.include({
      ...{ "http.request.method": "GET", "http.route": POOL, "url.path": POOL },
      ...{ "http.response.status_code": 200, "chaintables.upstream": "evm-dex#0" },
    });
    const { hostname, port } = new URL(evmDex.url);
    expect(client).to.deep.include({ name: `GET ${POOL}`, kind: "client", parentSpanId: server.spanId });
    expect(client?.attributes).to.deep.equal({
      ...{ "http.request.method": "GET", "http.response.status_code": 200 },
      ...{ "url.full": `${evmDex.url}${POOL}`, "url.template": POOL },
      ...{ "server.address": hostname, "server.port": Number(port), "chaintables.upstream": "evm-dex#0" },
    });
    expect(evmDex.seen[0]?.headers).to.deep.include({
      traceparent: `00-${THEIRS.trace}-${client?.spanId}-01`,
      tracestate: "vendor=word",
    });
    expect((await lineOf(started, answer))?.traceId).to.equal(THEIRS.trace);
    const sent = JSON.stringify(collector.requests.map(({ body }) => body));
    for (const secret of ["hunter2", BOOTSTRAP_KEY, "ab".repeat(20)]) expect(sent).not.to.contain(secret);
  });

  it("begin here where the client names none", async () => {
    const { get, evmDex } = await start();
    const [server, client] = await spansOf(await get(`${POOL}?${QUERY}`, { headers: { traceparent: "x" } }));
    expect(server.parentSpanId).to.equal("");
    expect(evmDex.seen[0]?.headers.traceparent).to.equal(`00-${server.traceId}-${client?.spanId}-01`);
    expect(evmDex.seen[0]?.headers).not.to.have.property("tracestate");
  });

  it("show where the response came from, and have no client span where no request was sent", async () => {
    const { get, evmDex } = await start(1_048_576);
    evmDex.answer = (_req, res) => {
      res.setHeader("Content-Type", mediaTypeOf(POOL));
      res.setHeader("Cache-Control", "private, max-age=60");
      res.end(TABLE_TEXT);
    };
    const words: unknown[] = [];
    for (let n = 0; n < 6; n++) {
      const [server, ...clientSpans] = await spansOf(await get(`${POOL}?${QUERY}`));
      words.push(server.attributes["chaintables.cache"]);
      expect(clientSpans.length).to.equal(server.attributes["chaintables.cache"] === "hit" ? 0 : 1);
    }
    expect(words[0]).to.equal("miss");
    expect(words.at(-1)).to.equal("hit");
  });

  it("link to the request that was waited for, where another client's was under way", async () => {
    const { get, evmDex, url } = await start(1_048_576);
    for (let round = 0; ; round++) {
      const path = `${POOL}?${QUERY}&chain_id=${round}`;
      const before = evmDex.seen.length;
      let release = (): void => {};
      evmDex.answer = (req, res) => {
        release = () => answerTable(req, res);
      };
      const first = get(path);
      await until(() => evmDex.seen.length > before);
      const second = get(path);
      // By then it waits too, unless the machine is very busy: then it is done again.
      for (let n = 0; n < 5; n++) await (await fetch(`${url}/livez`)).text();
      evmDex.answer = answerTable;
      release();
      const [sender] = await spansOf(await first);
      const [waiter, ...clientSpans] = await spansOf(await second);
      if (waiter.attributes["chaintables.cache"] !== "coalesced") continue;
      expect(clientSpans).to.deep.equal([]);
      expect(waiter.links).to.deep.equal([{ traceId: sender.traceId, spanId: sender.spanId }]);
      expect(sender.links).to.deep.equal([]);
      return;
    }
  });

  it("have another client span where the first connection broke, and show which failed", async () => {
    const { get, evmDex } = await start();
    let attempts = 0;
    evmDex.answer = (req, res) => (attempts++ === 0 ? void req.socket.destroy() : answerTable(req, res));
    const [server, ...clientSpans] = await spansOf(await get(`${POOL}?${QUERY}`));
    expect(server.isFailed).to.equal(false);
    const [first, second] = clientSpans.sort((a) => (a.isFailed ? -1 : 1));
    expect(first).to.deep.include({ isFailed: true, parentSpanId: server.spanId });
    expect(first?.attributes["error.type"]).to.equal("ConnectionBroken");
    expect(second).to.deep.include({ isFailed: false, parentSpanId: server.spanId });
    expect(second?.attributes["http.request.resend_count"]).to.equal(1);
    const carried = evmDex.seen.map(({ headers }) => String(headers.traceparent).split("-")[2]);
    expect(carried).to.deep.equal([first?.spanId, second?.spanId]);
  });

  it("distinguish failures from refusals", async () => {
    const { get, evmDex, url } = await start();
    const outcome = async (response: Promise<Response>) => {
      const [server, ...clientSpans] = await spansOf(await response);
      const { isFailed, attributes } = server;
      const statuses = [attributes["http.response.status_code"], attributes["error.type"]];
      return [
        isFailed,
        ...statuses,
        ...clientSpans.map((span) => span.attributes["http.response.status_code"]),
      ];
    };
    expect(await outcome(fetch(`${url}${POOL}?${QUERY}`))).to.deep.equal([false, 401, "unauthorized"]);
    expect(await outcome(get("/nothing/here"))).to.deep.equal([false, 404, "not_found"]);
    evmDex.answer = answerError(404, "not_found");
    expect(await outcome(get(`${POOL}?${QUERY}`))).to.deep.equal([false, 404, "not_found", 404]);
    evmDex.answer = answerError(503, "unavailable");
    expect(await outcome(get(`${POOL}?${QUERY}`))).to.deep.equal([true, 503, "unavailable", 503]);
  });

  it("of a client that disconnected show it, and so does the cancelled request", async () => {
    const { get, evmDex } = await start();
    const leaving = new AbortController();
    evmDex.answer = () => leaving.abort();
    await get(`${POOL}?${QUERY}`, { signal: leaving.signal }).catch(() => {});
    await until(() => collector.spans.length >= 2);
    const errors = collector.spans.map(({ kind, attributes }) => [kind, attributes["error.type"]]);
    expect(errors).to.have.deep.members([
      ["client", "RequestCancelled"],
      ["server", "client_gone"],
    ]);
  });

  it("are not made without a collector, and a client's trace headers are not sent on", async () => {
    gateway = await startTestGateway();
    const answer = await gateway.get(`${POOL}?${QUERY}`, { headers: HEADERS });
    expect(answer.status).to.equal(200);
    for (const name of ["traceparent", "tracestate"])
      expect(gateway.evmDex.seen[0]?.headers).not.to.have.property(name);
    expect(await lineOf(gateway, answer)).not.to.have.property("traceId");
  });

  describe("of payments", () => {
    let world: PaymentEnvironment;
    before(async () => {
      world = await startPaymentEnvironment();
    });
    after(() => world?.stop());

    it("have the facilitator's part, and log lines name them", async () => {
      const tracing = tracingConfig(collector.url, { name: "gateway" });
      const selling = await startPayGateway(world, { config: { tracing } });
      gateway = selling;
      const payer = await world.createPayer();
      const answer = await payer.fetch(selling.urlOf());
      expect(answer.status).to.equal(200);
      const [server, ...clientSpans] = await spansOf(answer);
      const { origin } = new URL(world.facilitatorProxy.url);
      expect(server.attributes["chaintables.payment"]).to.equal("settled");
      expect(clientSpans.map(({ name }) => name)).to.have.members([
        "POST /verify",
        "POST /settle",
        `GET ${server.attributes["http.route"]}`,
      ]);
      for (const { kind, parentSpanId } of clientSpans)
        expect({ kind, parentSpanId }).to.deep.equal({ kind: "client", parentSpanId: server.spanId });
      const settle = clientSpans.find(({ name }) => name === "POST /settle");
      expect(settle?.attributes["url.full"]).to.equal(`${origin}/settle`);
      const line = selling.lines.find(({ msg }) => msg === "payment settled");
      expect(line?.traceId).to.equal(server.traceId);
      const sent = JSON.stringify(collector.requests.map(({ body }) => body)).toLowerCase();
      expect(sent).not.to.contain(payer.address.slice(2).toLowerCase());
    });

    it("continue in the built-in facilitator", async () => {
      const config = readFacilitatorConfig({
        FACILITATOR_PORT: "0",
        FACILITATOR_PRIVATE_KEY: `0x${"11".repeat(32)}`,
        X402_PAY_TO: world.payTo,
        EVM_RPC_8453: world.chain.url,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      });
      const log = createLog({ name: "facilitator", level: "silent" });
      const facilitator = await startFacilitator(config, { log });
      const traceparent = `00-${THEIRS.trace}-${THEIRS.span}-01`;
      await fetch(`${facilitator.url}/supported`, { headers: { traceparent } });
      // What is left is sent at the end.
      await facilitator.stop();
      const [span, ...more] = collector.spans;
      expect(more).to.deep.equal([]);
      expect(span).to.deep.include({ service: "facilitator", name: "GET /supported", kind: "server" });
      expect(span).to.deep.include({ traceId: THEIRS.trace, parentSpanId: THEIRS.span });
    });
  });
});
