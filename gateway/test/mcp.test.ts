import { expect } from "chai";
import { after, afterEach, before, beforeEach, it } from "mocha";
import { describeLong } from "../../services/shared/testkit/describe.ts";
import { catalogue } from "../catalogue.ts";
import { createManualClock } from "../testkit/clock.ts";
import { expectError } from "../testkit/expect-error.ts";
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway, UNLIMITED } from "../testkit/gateway.ts";
import { answerDeclared, connectOverHttp, type McpClient } from "../testkit/mcp.ts";
import { until } from "../testkit/until.ts";
import { answerError } from "../testkit/upstream.ts";

const FOUR = { ratePerSecond: 0.001, burst: 4, dailyQuota: null };
const THREE = { ratePerSecond: 0.001, burst: 3, dailyQuota: null };
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

describeLong("gateway: MCP over HTTP", () => {
  let gateway: TestGateway;
  let clients: McpClient[];
  let shared: TestGateway;
  const started: TestGateway[] = [];
  const start = async (limits: Partial<typeof UNLIMITED> = {}) => {
    const clock = createManualClock(Date.UTC(2026, 4, 1, 12));
    gateway = await startTestGateway({
      config: { limits: { ...UNLIMITED, ...limits } },
      parts: { clock },
    });
    started.push(gateway);
    return gateway;
  };
  before(async () => {
    shared = await start();
  });
  after(() => Promise.all(started.map((each) => each.stop())));
  const connect = async (key?: string) => {
    const client = await connectOverHttp(gateway.url, key);
    clients.push(client);
    return client;
  };
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/mcp`, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: {
        "X-API-KEY": BOOTSTRAP_KEY,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        ...headers,
      },
    });
  beforeEach(() => {
    clients = [];
    gateway = shared;
    answerDeclared([gateway.evmDex, gateway.lending, gateway.solana], catalogue);
  });
  afterEach(() => Promise.all(clients.map((client) => client.close())));

  it("introduces itself, lists its tools and answers calls", async () => {
    const { client, call } = await connect();
    expect(client.getServerVersion()?.name).to.equal("chaintables");
    expect(client.getInstructions()).to.include("best_yields");
    const { tools } = await client.listTools();
    expect(tools).to.have.length(catalogue.length + 5);
    expect(await call("evm_chains")).to.have.property("isError", false);
    expect(gateway.evmDex.seen.at(-1)).to.include({ method: "GET", url: "/evm/chains" });
  });

  it("needs a valid key, and tells by 401 and 403 in the API's form", async () => {
    await expectError(await post(LIST, { "X-API-KEY": "" }), "unauthorized");
    await expectError(await post(LIST, { "X-API-KEY": "ct_wrong" }), "unauthorized");
    const suspended = gateway.keys.add({ suspendedAt: 1 });
    await expectError(await post(LIST, { "X-API-KEY": suspended }), "forbidden");
    expect(await connect("ct_wrong").catch(String)).to.include("malformed");
  });

  it("refuses by the key's scopes as the endpoint does, in a tool error", async () => {
    const { call } = await connect(gateway.keys.add({ scopes: ["solana"] }));
    expect(await call("solana_tokens")).to.have.property("isError", false);
    expect(await call("evm_chains")).to.deep.equal({
      text: "The key in X-API-KEY has no scope for evm-dex; its scopes are: solana. (forbidden)",
      isError: true,
    });
  });

  it("costs a key what the endpoints cost that a tool asks, and nothing besides", async () => {
    await start({ key: FOUR });
    answerDeclared([gateway.evmDex, gateway.lending], catalogue);
    const { client, call } = await connect(gateway.keys.add());
    await client.listTools();
    await call("explain_column", { column: "supplyApy" });
    expect(await call("evm_chains")).to.have.property("isError", false);
    expect(await call("best_yields", { asset: "USDC" })).to.have.property("isError", false);
    expect(gateway.lending.seen).to.have.length(3);
    const refused = await call("evm_chains");
    expect(refused.isError).to.equal(true);
    expect(refused.text).to.match(/^Too many requests .*Try again in \d+ s\. \(rate_limited\)$/);
  });

  it("counts what asks no endpoint against the address, as a page", async () => {
    await start({ address: THREE, key: THREE });
    const key = gateway.keys.add();
    const withKey = { "X-API-KEY": key };
    const explain = {
      ...{ jsonrpc: "2.0", id: 2, method: "tools/call" },
      params: { name: "explain_column", arguments: { column: "supplyApy" } },
    };
    const statuses: number[] = [];
    for (const message of [LIST, explain, LIST]) statuses.push((await post(message, withKey)).status);
    expect(statuses).to.deep.equal([200, 200, 200]);
    // The address is used up: from here on a valid key pays.
    for (let at = 0; at < 3; at += 1) expect((await post(explain, withKey)).status).to.equal(200);
    await expectError(await post(explain, withKey), "rate_limited");
  });

  it("passes on the sentence of the API's errors", async () => {
    const { call } = await connect();
    gateway.evmDex.answer = answerError(400, "bad_request", "Cannot parse limit: 10001 is above 10000.");
    expect(await call("evm_dexb_v3_pools", { limit: 10_001 })).to.deep.equal({
      text: "Cannot parse limit: 10001 is above 10000. (bad_request)",
      isError: true,
    });
    gateway.evmDex.answer = answerError(503, "unavailable", "The index has no data yet.");
    expect((await call("evm_chains")).text).to.match(
      /^The index has no data yet\. Try again in \d+ s\. \(session [0-9a-f-]{36}\) \(unavailable\)$/,
    );
  });

  it("refuses tools and arguments that there are not", async () => {
    const { call } = await connect();
    const asked = gateway.evmDex.seen.length;
    expect(await call("evm_chains", { limt: 3 })).to.deep.equal({
      text: "evm_chains has no argument limt. It takes offset, columns.",
      isError: true,
    });
    expect(await call("drop_table").catch(String)).to.include('There is no tool "drop_table"');
    expect(gateway.evmDex.seen).to.have.length(asked);
  });

  it("takes single messages with a length alone, and bodies nowhere else", async () => {
    await expectError(await post("{"), "bad_request");
    expect(await expectError(await post([LIST]), "bad_request"))
      .property("message")
      .to.include("Batches");
    await expectError(await post("x".repeat(65_537)), "bad_request");
    const chunked = { body: new Blob([JSON.stringify(LIST)]).stream(), duplex: "half" };
    const headers = { "X-API-KEY": BOOTSTRAP_KEY };
    const streamed = await fetch(`${gateway.url}/mcp`, {
      method: "POST",
      headers,
      ...chunked,
    } as RequestInit);
    await expectError(streamed, "bad_request");
    for (const path of ["/mcp/", "/evm/chains", "/"]) {
      const elsewhere = await fetch(gateway.url + path, { method: "POST", headers, body: "{}" });
      await expectError(elsewhere, "bad_request");
    }
    expect((await post({ ...LIST, method: 7 })).status).to.equal(400);
    expect((await post(LIST, { Accept: "application/json" })).status).to.equal(406);
    expect((await post(LIST, { "Mcp-Protocol-Version": "1999-01-01" })).status).to.equal(400);
  });

  it("answers other methods with 405, and pages of other origins before they ask", async () => {
    for (const method of ["GET", "DELETE", "PUT"]) {
      const answer = await fetch(`${gateway.url}/mcp`, { method });
      expect(answer.status, method).to.equal(405);
      expect(answer.headers.get("allow")).to.equal("POST, OPTIONS");
      await answer.body?.cancel();
    }
    const preflight = await fetch(`${gateway.url}/mcp`, { method: "OPTIONS" });
    expect(preflight.status).to.equal(204);
    expect(preflight.headers.get("access-control-allow-methods")).to.equal("POST, OPTIONS");
    expect(preflight.headers.get("access-control-allow-headers")).to.include("Content-Type");
  });

  it("stops asking when its client has gone", async () => {
    let isAsked = false;
    let isCancelled = false;
    gateway.evmDex.answer = (_req, res) => {
      isAsked = true;
      res.once("close", () => {
        isCancelled = true;
      });
    };
    const leaving = new AbortController();
    const call = { ...LIST, method: "tools/call", params: { name: "evm_chains" } };
    const asked = fetch(`${gateway.url}/mcp`, {
      method: "POST",
      body: JSON.stringify(call),
      signal: leaving.signal,
      headers: {
        "X-API-KEY": BOOTSTRAP_KEY,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
      },
    }).catch(() => "gone");
    await until(() => isAsked);
    leaving.abort();
    expect(await asked).to.equal("gone");
    await until(() => isCancelled);
  });
});
