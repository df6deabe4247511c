import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeThorough } from "../services/shared/testkit/describe.ts";
import { until } from "../services/shared/testkit/fixture.ts";
import { type ServiceProcess, startServiceProcess } from "../services/shared/testkit/service-process.ts";
import {
  type CollectedSpan,
  startTestCollector,
  type TestCollector,
} from "../services/shared/tracing/testkit/collector.ts";
import { findFreePort } from "./check/servers.ts";

const KEY = "a key of the tests";
const VAULTS = "/evm/lending/lendingc/v1/vaults";
const PRICES = "chaintables.v1.Prices/GetPrices";

/** A span with those below it, in the order of their names. */
interface Tree {
  readonly what: string;
  readonly below: readonly Tree[];
}

describeThorough("traces of the gateway, lending and evm-dex, each a process of its own", () => {
  let folder: string;
  let collector: TestCollector;
  let [gateway, lending, evmDex]: (ServiceProcess | undefined)[] = [];
  let gatewayUrl = "";

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "traces-"));
    collector = await startTestCollector();
    const env = {
      DATA_DIR: folder,
      DEPLOYMENTS_FILE: undefined,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: "parentbased_always_on",
    };
    const start = (path: string, more: Readonly<Record<string, string>> = {}) =>
      startServiceProcess(new URL(`../${path}`, import.meta.url), { ...env, ...more });
    evmDex = await start("services/evm-dex/test/prices/priced-service.main.ts");
    const peers = { EVM_DEX_GRPC: evmDex.grpcAddress };
    lending = await start("services/lending/test/filled-service.main.ts", peers);
    const port = String(await findFreePort());
    gatewayUrl = `http://127.0.0.1:${port}`;
    gateway = await start("gateway/main.ts", {
      ...{ ...peers, EVM_DEX_URL: evmDex.httpUrl },
      ...{ LENDING_URL: lending.httpUrl, LENDING_GRPC: lending.grpcAddress },
      // No test requests it.
      ...{ SOLANA_URL: lending.httpUrl, SOLANA_GRPC: lending.grpcAddress },
      ...{ GATEWAY_PORT: port, ADMIN_PORT: "off", BOOTSTRAP_API_KEY: KEY },
    });
  });
  after(async () => {
    for (const each of [gateway, lending, evmDex]) await each?.stop();
    await collector?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const request = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(gatewayUrl + path, { headers: { "X-API-KEY": KEY, ...headers } });
    return { status: answer.status, session: answer.headers.get("x-session-id"), text: await answer.text() };
  };
  /** A trace is whole when the services have sent theirs and the gateway its last. */
  const traceOf = async (session: string | null) => {
    const ofRequest = () =>
      collector.spans.filter(({ attributes }) => attributes["chaintables.session"] === session);
    await until(() => ofRequest().length === 2);
    const traceId = ofRequest()[0]?.traceId ?? "";
    return { traceId, tree: treeOf(traceId) };
  };
  const treeOf = (traceId: string, parentSpanId = ""): Tree[] =>
    collector.spans
      .filter((span) => span.traceId === traceId && span.parentSpanId === parentSpanId)
      .map((span) => ({ what: describeSpan(span), below: treeOf(traceId, span.spanId) }))
      .sort((a, b) => a.what.localeCompare(b.what));
  const describeSpan = ({ service, kind, name }: CollectedSpan) => `${service} ${kind} ${name}`;
  const leaf = (what: string): Tree => ({ what, below: [] });
  const accessLine = async (service: ServiceProcess | undefined, session: string | null) => {
    const find = () => service?.entries.find((line) => line.session === session && line.msg === "request");
    await until(() => find() !== undefined);
    return find();
  };

  it("a request is one trace through gateway and lending, linked to the one that requested its prices", async () => {
    // Until the tables have prices, which come after the first rows.
    await until(async () => (await request(`${VAULTS}?limit=1`)).text.includes("6000"));
    const { status, session } = await request(`${VAULTS}?limit=2&order=-tvlUsd`);
    expect(status).to.equal(200);
    const { traceId, tree } = await traceOf(session);
    const below = [leaf("lending internal read rows"), leaf("lending internal render table")];
    const served = { what: `lending server GET ${VAULTS}`, below };
    const requested = { what: `gateway client GET ${VAULTS}`, below: [served] };
    expect(tree).to.deep.equal([{ what: `gateway server GET ${VAULTS}`, below: [requested] }]);
    for (const each of [gateway, lending])
      expect((await accessLine(each, session))?.traceId).to.equal(traceId);

    // No request waits for prices. The earlier request is a trace of its own, which goes on in evm-dex.
    const read = collector.spans.find((span) => span.traceId === traceId && span.name === "read rows");
    const [link, ...more] = read?.links ?? [];
    expect(more).to.deep.equal([]);
    await until(() => collector.spans.some((span) => span.spanId === link?.spanId));
    const answered = () =>
      collector.spans.find(
        ({ traceId, service, name }) => traceId === link?.traceId && service === "evm-dex" && name === PRICES,
      );
    await until(() => answered() !== undefined);
    const [refresh, ...others] = treeOf(link?.traceId ?? "");
    expect(others).to.deep.equal([]);
    expect(refresh?.what).to.equal("lending internal refresh prices");
    expect(refresh?.below.map(({ what }) => what)).to.deep.equal([`lending client ${PRICES}`]);
    const [call] = refresh?.below ?? [];
    expect(call?.below.map(({ what }) => what)).to.deep.equal([`evm-dex server ${PRICES}`]);
    const reads = call?.below[0]?.below.map(({ what }) => what) ?? [];
    expect(reads).to.include("evm-dex client get checkpoints");
    expect(answered()?.attributes).to.deep.include({ "rpc.system": "grpc", "rpc.grpc.status_code": 0 });
  });

  it("a request to evm-dex shows what was read of the store, below the client's own span", async () => {
    const [trace, span] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
    const path = "/evm/dexb/v3/pools";
    const { status, session } = await request(`${path}?limit=1`, { traceparent: `00-${trace}-${span}-00` });
    expect(status).to.equal(200);
    expect((await traceOf(session)).traceId).to.equal(trace);
    const [root] = treeOf(trace, span);
    expect(root?.what).to.equal(`gateway server GET ${path}`);
    const served = root?.below[0]?.below[0];
    expect(served?.what).to.equal(`evm-dex server GET ${path}`);
    const steps = served?.below.map(({ what }) => what);
    expect(steps).to.deep.equal(["evm-dex internal read rows", "evm-dex internal render table"]);
    const reads = served?.below[0]?.below.map(({ what }) => what) ?? [];
    expect(reads).to.include("evm-dex client get checkpoints");
    for (const each of [gateway, evmDex]) expect((await accessLine(each, session))?.traceId).to.equal(trace);
  });

  it("contain nothing of a key or a query, and processes that stop send what they have", async () => {
    const { session } = await request(`${VAULTS}?limit=3&api_key=hunter2`);
    for (const each of [gateway, lending, evmDex]) expect((await each?.stop())?.code).to.equal(0);
    const spans = collector.spans.filter(({ attributes }) => attributes["chaintables.session"] === session);
    expect(spans.map(({ service }) => service)).to.have.members(["gateway", "lending"]);
    const sent = collector.requests.map(({ body }) => body).join("");
    for (const secret of [KEY, "hunter2", "limit"]) expect(sent).not.to.contain(secret);
  });
});
