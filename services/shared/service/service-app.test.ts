import { request } from "node:http";
import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import type { DataVersion } from "../contract/endpoint.ts";
import { ServiceError } from "../errors.ts";
import { bodyOf, itemEndpoint, listEndpoint, startTestApp, type TestApp, until } from "../testkit/fixture.ts";
import { type HandlerTable, handle } from "./handlers.ts";
import type { ServiceAppOptions } from "./service-app.ts";

const POOL = `0x${"ab".repeat(20)}`;
const VERSION: DataVersion = { block: 100, time: 1_785_932_479, blockHash: "0xaa", fromBlock: 7 };

const table = (...entries: ReturnType<typeof handle>[]): HandlerTable => Object.fromEntries(entries);
const answering = (rows: (string | number)[][], version?: DataVersion) =>
  table(handle(listEndpoint, async () => (version === undefined ? { rows } : { rows, version })));

describe("service/service-app", () => {
  let app: TestApp | undefined;
  const start = async (options: Partial<ServiceAppOptions> = {}): Promise<TestApp> => {
    app = await startTestApp(options);
    return app;
  };
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  it("answers the table of a handler with exactly the declared media type", async () => {
    const { url } = await start({ handlers: answering([["a", 1.5]]) });
    const response = await fetch(`${url}/test/things`);
    expect(response.status).to.equal(200);
    expect(response.headers.get("content-type")).to.equal("application/vnd.service.table.v1.0.0+json");
    const columns = [
      { name: "name", type: "String" },
      { name: "price", type: "Float64" },
    ];
    expect(await response.json()).to.deep.equal([{ columns, data: [["a", 1.5]], rows: 1 }]);
  });

  it("gives handlers parsed parameters, the session and a signal", async () => {
    const seen: unknown[] = [];
    const { url } = await start({
      handlers: table(
        handle(itemEndpoint, async (params, { session, signal }) => {
          seen.push(params, session, signal.aborted);
          return { rows: [] };
        }),
      ),
    });
    const session = "0123456789abcdef-0123";
    await fetch(`${url}/test/thing?pool_address=${POOL.toUpperCase().replace("0X", "0x")}`, {
      headers: { "X-Session-Id": session },
    });
    expect(seen).to.deep.equal([{ chain_id: 8453, pool_address: POOL }, session, false]);
  });

  it("answers endpoints without a handler as if nothing were ingested", async () => {
    const { url } = await start();
    const list = await fetch(`${url}/test/things`);
    expect(list.status).to.equal(200);
    expect((await bodyOf(list))[0]).to.include({ rows: 0 });
    const item = await fetch(`${url}/test/thing?pool_address=${POOL}&chain_id=1`);
    expect(item.status).to.equal(404);
    expect(await item.json()).to.include({
      error: "not_found",
      message: `No pool ${POOL} is known on chain 1.`,
    });
  });

  it("matches paths exactly and answers other paths and methods with a JSON 404", async () => {
    const { url } = await start();
    for (const path of [
      "/test/things/",
      "/Test/things",
      "/test//things",
      "/",
      "/test/things%20",
      "/test/%74hings",
    ]) {
      const response = await fetch(url + path);
      expect(response.status, path).to.equal(404);
      expect(response.headers.get("content-type"), path).to.equal("application/json");
      expect(await response.json(), path)
        .to.have.keys("error", "message", "session")
        .and.include({ error: "not_found" });
    }
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const response = await fetch(`${url}/test/things`, { method });
      expect(response.status, method).to.equal(404);
      expect((await bodyOf(response)).message, method).to.contain("method");
    }
  });

  it("answers HEAD with the head of GET, on success and on error", async () => {
    const { url } = await start({ handlers: answering([["a", 1]], VERSION) });
    for (const path of ["/test/things", "/test/things?limit=0", "/test/thing"]) {
      const [get, head] = await Promise.all([fetch(url + path), fetch(url + path, { method: "HEAD" })]);
      expect(head.status, path).to.equal(get.status);
      expect(await head.text(), path).to.equal("");
      for (const name of ["content-type", "etag", "cache-control", "x-data-block"]) {
        expect(head.headers.get(name), `${path} ${name}`).to.equal(get.headers.get(name));
      }
      const length = Buffer.byteLength(await get.text());
      expect(head.headers.get("content-length"), path).to.equal(String(length));
    }
  });

  it("names ignored parameters in a header", async () => {
    const { url } = await start();
    const response = await fetch(`${url}/test/things?page=2&limit=5&x%0Ay=1`);
    expect(response.status).to.equal(200);
    expect(response.headers.get("x-ignored-parameters")).to.equal("page, x%0Ay");
  });

  it("answers a refused parameter with 400 that names parameter, rule and value", async () => {
    const { url } = await start();
    const response = await fetch(`${url}/test/things?limit=10001`);
    expect(response.status).to.equal(400);
    expect(await response.json()).to.include({
      error: "bad_request",
      message: "Cannot parse limit: 10001 is above 10000.",
    });
    expect(response.headers.get("cache-control")).to.equal("no-store");
  });

  it("takes a well-formed session from the gateway and makes a fresh one otherwise", async () => {
    const { url } = await start();
    const sessionFor = async (sent?: string) => {
      const response = await fetch(
        `${url}/nothing`,
        sent === undefined ? {} : { headers: { "X-Session-Id": sent } },
      );
      const { session } = await bodyOf(response);
      expect(response.headers.get("x-session-id")).to.equal(session);
      return session;
    };
    expect(await sessionFor("0123456789abcdef")).to.equal("0123456789abcdef");
    const fresh = await Promise.all([
      sessionFor(),
      sessionFor(),
      sessionFor("short"),
      sessionFor('"quoted quoted"'),
    ]);
    expect(new Set(fresh).size).to.equal(4);
    for (const session of fresh) expect(session).to.match(/^[0-9a-f-]{36}$/);
  });

  it("sends the state of the data in headers and a weak tag of it", async () => {
    let version = VERSION;
    const { url } = await start({
      handlers: table(handle(listEndpoint, async () => ({ rows: [["a", 1]], version }))),
      maxAgeSeconds: (_endpoint, { chain_id }) => (chain_id === 1 ? 12 : 2),
    });
    const tagOf = async (query = "") => (await fetch(`${url}/test/things${query}`)).headers.get("etag");
    const { headers } = await fetch(`${url}/test/things`);
    expect(headers.get("x-data-block")).to.equal("100");
    expect(headers.get("x-data-as-of")).to.equal("2026-08-05T12:21:19+00:00");
    expect(headers.get("x-data-from-block")).to.equal("7");
    expect(headers.get("cache-control")).to.equal("private, max-age=2");
    const onEthereum = await fetch(`${url}/test/things?chain_id=1`);
    expect(onEthereum.headers.get("cache-control")).to.equal("private, max-age=12");
    const tag = headers.get("etag");
    expect(tag).to.match(/^W\/"[A-Za-z0-9_-]{22}"$/);
    expect(await tagOf("?limit=100&chain_id=8453"), "the same meaning").to.equal(tag);
    expect(await tagOf("?limit=99"), "another query").not.to.equal(tag);
    for (const change of [{ block: 101 }, { blockHash: "0xbb" }, { fromBlock: 6 }]) {
      version = { ...VERSION, ...change };
      expect(await tagOf(), JSON.stringify(change)).not.to.equal(tag);
    }
  });

  it("answers 304 without a body while the tag holds", async () => {
    const { url } = await start({ handlers: answering([["a", 1]], VERSION) });
    const first = await fetch(`${url}/test/things`);
    const tag = first.headers.get("etag") ?? "";
    for (const wanted of [tag, `"other", ${tag}`, tag.replace("W/", ""), "*"]) {
      const again = await fetch(`${url}/test/things`, { headers: { "If-None-Match": wanted } });
      expect(again.status, wanted).to.equal(304);
      expect(await again.text()).to.equal("");
      expect(again.headers.get("etag")).to.equal(tag);
      expect(again.headers.get("x-data-block")).to.equal("100");
    }
    const other = await fetch(`${url}/test/things`, { headers: { "If-None-Match": '"other"' } });
    expect(other.status).to.equal(200);
  });

  it("tags answers without a version by their body", async () => {
    let price = 1;
    const { url } = await start({
      handlers: table(handle(listEndpoint, async () => ({ rows: [["a", price]] }))),
    });
    const first = await fetch(`${url}/test/things`);
    expect(first.headers.get("x-data-block")).to.equal(null);
    const again = () =>
      fetch(`${url}/test/things`, { headers: { "If-None-Match": first.headers.get("etag") ?? "" } });
    expect((await again()).status).to.equal(304);
    price = 2;
    expect((await again()).status).to.equal(200);
  });

  it("does not run the handler for a 304 when the version is known beforehand", async () => {
    let runs = 0;
    let known: DataVersion | undefined = VERSION;
    const { url } = await start({
      handlers: table(
        handle(listEndpoint, async () => {
          runs++;
          return { rows: [], version: VERSION };
        }),
      ),
      dataVersion: () => known,
    });
    const first = await fetch(`${url}/test/things`);
    const requestWith = (wanted: string, method = "GET", query = "") =>
      fetch(`${url}/test/things${query}`, { method, headers: { "If-None-Match": wanted } });
    const tag = first.headers.get("etag") ?? "";
    for (const method of ["GET", "HEAD"]) {
      const again = await requestWith(tag, method);
      expect([again.status, await again.text()]).to.deep.equal([304, ""]);
      for (const name of ["etag", "cache-control", "x-data-block", "x-data-as-of", "x-data-from-block"]) {
        expect(again.headers.get(name), `${method} ${name}`)
          .to.equal(first.headers.get(name))
          .and.not.equal(null);
      }
    }
    expect(runs).to.equal(1);
    expect((await requestWith(tag, "GET", "?limit=7")).status, "another query").to.equal(200);
    known = { ...VERSION, blockHash: "0xbb" };
    // The handler decides: what was known beforehand may be behind it.
    expect((await requestWith(tag)).status).to.equal(304);
    known = undefined;
    expect((await requestWith(tag)).status).to.equal(304);
    expect(runs).to.equal(4);
  });

  it("says what is stale, which is no change of the data, and tags what differs on one block", async () => {
    let version = VERSION;
    const { url } = await start({
      handlers: table(handle(listEndpoint, async () => ({ rows: [["a", 1]], version }))),
      dataVersion: () => version,
    });
    const fresh = await fetch(`${url}/test/things`);
    expect(fresh.headers.get("x-data-stale")).to.equal(null);
    const tag = fresh.headers.get("etag") ?? "";
    version = { ...VERSION, stale: "prices; age=5" };
    const stale = await fetch(`${url}/test/things`);
    expect(stale.headers.get("x-data-stale")).to.equal("prices; age=5");
    expect(stale.headers.get("etag")).to.equal(tag);
    const again = await fetch(`${url}/test/things`, { headers: { "If-None-Match": tag } });
    expect([again.status, again.headers.get("x-data-stale")]).to.deep.equal([304, "prices; age=5"]);
    version = { ...VERSION, tag: "other prices" };
    expect((await fetch(`${url}/test/things`)).headers.get("etag")).not.to.equal(tag);
  });

  it("lets the handler decide whether there is any answer at all", async () => {
    const { url } = await start({ dataVersion: () => VERSION });
    const item = await fetch(`${url}/test/thing?pool_address=${POOL}`, { headers: { "If-None-Match": "*" } });
    expect(item.status).to.equal(404);
  });

  it("answers 408 when the deadline passes, aborts the signal and ignores what comes late", async () => {
    let reason: unknown;
    const { url } = await start({
      deadlineMs: 20,
      handlers: table(
        handle(listEndpoint, async (_params, { signal }) => {
          await until(() => signal.aborted);
          reason = signal.reason;
          throw new Error("late");
        }),
        handle(itemEndpoint, () => new Promise(() => {})),
      ),
    });
    const response = await fetch(`${url}/test/things`);
    expect(response.status).to.equal(408);
    expect(await response.json()).to.include({ error: "request_timeout" });
    await until(() => reason !== undefined);
    expect(reason).to.be.instanceOf(ServiceError);
    expect(
      (await fetch(`${url}/test/thing?pool_address=${POOL}`)).status,
      "a handler that ignores the signal",
    ).to.equal(408);
  });

  it("aborts the signal when the client goes away, and logs 499", async () => {
    let aborted = false;
    const { url, lines } = await start({
      handlers: table(
        handle(listEndpoint, async (_params, { signal }) => {
          client.destroy();
          await until(() => signal.aborted);
          aborted = true;
          return { rows: [] };
        }),
      ),
    });
    const client = request(`${url}/test/things`).on("error", () => {});
    client.end();
    await until(() => aborted && lines.length > 0);
    expect(lines[0]).to.include({ status: 499, route: "/test/things", level: "info" });
    expect(lines[0]).not.to.have.property("err");
  });

  it("answers whatever is thrown with 500 without internals, and logs the cause under the session", async () => {
    const { url, lines } = await start({
      handlers: table(
        handle(listEndpoint, async ({ limit }) => {
          if (limit === 1) throw new Error("password hunter2 at mongodb://u:hunter2@db/x");
          // biome-ignore lint/style/useThrowOnlyError: libraries do it, and the app must survive it.
          if (limit === 2) throw "text";
          if (limit === 3) return { rows: [["a", Number.NaN]] };
          return { rows: [["only one cell"]] };
        }),
      ),
    });
    for (const limit of [1, 2, 3, 4]) {
      const response = await fetch(`${url}/test/things?limit=${limit}`);
      expect(response.status, String(limit)).to.equal(500);
      const body = await bodyOf(response);
      expect(body).to.have.keys("error", "message", "session").and.include({ error: "internal" });
      expect(body.message).not.to.match(/hunter2|text|NaN|cell|column/);
      await until(() => lines.length === limit);
      expect(lines.at(-1)).to.include({
        level: "error",
        status: 500,
        session: body.session,
        code: "internal",
      });
      expect(lines.at(-1)).to.have.property("err");
    }
    expect(JSON.stringify(lines)).not.to.contain("u:hunter2");
  });

  it("sends Retry-After with a 503, and logs its cause but does not send it", async () => {
    const { url, lines } = await start({
      handlers: table(
        handle(listEndpoint, async ({ limit }) => {
          const options = { cause: new Error("store is down") };
          throw new ServiceError(
            "unavailable",
            "Come back.",
            limit === 1 ? options : { ...options, retryAfterSeconds: 7 },
          );
        }),
      ),
    });
    const known = await fetch(`${url}/test/things`);
    expect([known.status, known.headers.get("retry-after")]).to.deep.equal([503, "7"]);
    expect(await known.text()).not.to.contain("store");
    expect((await fetch(`${url}/test/things?limit=1`)).headers.get("retry-after")).to.equal("1");
    await until(() => lines.length === 2);
    expect(JSON.stringify(lines[0]?.err)).to.contain("store is down");
  });

  it("writes one access log line a request by route template, never the query", async () => {
    const { url, lines } = await start();
    await fetch(`${url}/test/things?limit=3&apikey=SECRET`);
    await fetch(`${url}/test/SECRET?x=SECRET`);
    await until(() => lines.length === 2);
    expect(lines[0]).to.include({
      route: "/test/things",
      status: 200,
      method: "GET",
      msg: "request",
      level: "info",
    });
    expect(lines[0]).to.have.property("durationMs").that.is.a("number");
    expect(lines[1]).to.include({ route: "unmatched", status: 404, code: "not_found" });
    expect(JSON.stringify(lines)).not.to.contain("SECRET");
  });

  it("serves probes and metrics by route template", async () => {
    let ready = true;
    const { url } = await start({ readiness: async () => ({ ready, details: { mode: "empty" } }) });
    await fetch(`${url}/test/things`);
    await fetch(`${url}/made-up-${Math.random()}`);
    expect((await fetch(`${url}/livez`)).status).to.equal(200);
    expect(await (await fetch(`${url}/readyz`)).json()).to.deep.equal({ status: "ready", mode: "empty" });
    ready = false;
    expect((await fetch(`${url}/readyz`)).status).to.equal(503);
    expect((await fetch(`${url}/livez`)).status).to.equal(200);
    const metrics = await fetch(`${url}/metrics`);
    expect(metrics.headers.get("content-type")).to.contain("text/plain");
    const text = await metrics.text();
    expect(text).to.match(/http_request_duration_seconds_count\{[^}]*route="\/test\/things"[^}]*\} 1/);
    expect(text).to.match(/http_request_duration_seconds_count\{[^}]*route="unmatched"[^}]*\} 1/);
    expect(text)
      .to.contain("build_info{")
      .and.contain("process_resident_memory_bytes")
      .and.not.contain("made-up");
  });

  it("refuses a handler for an undeclared path", async () => {
    const handlers = { "/test/typo": async () => ({ rows: [] }) };
    const failure = await startTestApp({ handlers }).catch((error) => error);
    expect(failure).to.be.instanceOf(Error).with.property("message").that.contains("/test/typo");
  });
});
