import { expect } from "chai";
import { after, before, it } from "mocha";
import { isNotKept } from "../contract/as-of.ts";
import { describeParameters, minimalRequest } from "../contract/derive/parameters.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { EXAMPLES_PATH, type Examples } from "../contract/examples.ts";
import { FORMAT_PARAM, FORMATS, type Format, mediaTypeOf } from "../contract/format.ts";
import { type DerivedCase, deriveCases } from "../contract/testkit/test-cases.ts";
import { type ErrorBody, type ErrorCode, HTTP_STATUS } from "../errors.ts";
import { createHealthClient, createStatusClient } from "../grpc/client.ts";
import { createHeadsClient } from "../grpc/heads.ts";
import type { LiveHead, ServiceStatus } from "../grpc/types.ts";
import { VERSION } from "../process/version.ts";
import { describeWithProcesses } from "./describe.ts";
import { bodyOf, until } from "./fixture.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";

export interface ServiceSuite {
  readonly name: string;
  /** The service's main.ts. */
  readonly entry: URL;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly endpoints: readonly Endpoint[];
  /** Paths of tables that need nothing of a chain: without data they alone have rows to answer. */
  readonly withoutChain?: readonly string[];
  /** What Status says once the service is up. */
  readonly status: Pick<ServiceStatus, "mode" | "chains" | "peers">;
}

/** What every service must do, tested on its real process, alone and over the wire. */
export function describeService(suite: ServiceSuite): void {
  describeWithProcesses(`${suite.name}, alone as a process`, () => {
    let service: ServiceProcess;
    before(async () => {
      service = await startServiceProcess(suite.entry, suite.env);
    });
    after(() => service?.stop("SIGKILL"));

    for (const endpoint of suite.endpoints) {
      const cases = deriveCases(endpoint);
      it(`GET ${endpoint.path}: ${cases.length} derived cases`, async () => {
        await inBatches(cases, (one) =>
          checkCase(service.httpUrl, endpoint, { ...one, isRead: isRead(suite, endpoint, one) }),
        );
      });
      it(`HEAD, exact path and 304 of ${endpoint.path}`, async () => {
        await checkHead(service.httpUrl, endpoint);
        await checkExactPath(service.httpUrl, endpoint);
        await checkNotModified(service.httpUrl, endpoint);
      });
    }

    it("answers other paths and methods with a JSON 404", async () => {
      const path = suite.endpoints[0]?.path ?? "/";
      for (const [method, url] of [
        ["GET", "/"],
        ["GET", "/no/such/path"],
        ["POST", path],
        ["DELETE", path],
        ["OPTIONS", path],
      ] as const) {
        await checkError(await fetch(service.httpUrl + url, { method }), "not_found");
      }
    });

    it("is live and ready, and counts requests by route template", async () => {
      expect((await fetch(`${service.httpUrl}/livez`)).status).to.equal(200);
      const ready = await fetch(`${service.httpUrl}/readyz`);
      expect(ready.status).to.equal(200);
      expect(await bodyOf(ready)).to.include({ status: "ready", mode: suite.status.mode });
      const metrics = await (await fetch(`${service.httpUrl}/metrics`)).text();
      for (const { path } of suite.endpoints) expect(metrics).to.contain(`route="${path}"`);
      expect(metrics).to.contain(`build_info{version="${VERSION}",service="${suite.name}"} 1`);
    });

    it("offers examples that answer with rows, and none from an empty store", async () => {
      const offered: Examples = await bodyOf(await fetch(service.httpUrl + EXAMPLES_PATH));
      const paths = Object.keys(offered);
      if (suite.status.mode === "empty") expect(paths).to.deep.equal([]);
      else expect(paths).not.to.be.empty;
      for (const path of paths) {
        const endpoint = suite.endpoints.find((one) => one.path === path);
        if (endpoint === undefined) throw new Error(`${path} is not declared`);
        const docs = describeParameters(endpoint);
        const example = new Map(Object.entries(offered[path] ?? {}));
        for (const pairs of [[...example], minimalRequest(docs, example)]) {
          const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
          const answer = await fetch(`${service.httpUrl}${path}?${query}`);
          expect(answer.status, `${path}?${query}`).to.equal(200);
          const body = await bodyOf(answer);
          expect((body[0] ?? body).rows, `${path}?${query}`).to.be.greaterThan(0);
        }
      }
    });

    it("answers Status and health over gRPC", async () => {
      const status = createStatusClient(service.grpcAddress);
      const health = createHealthClient(service.grpcAddress);
      try {
        const looked = ({ peers }: ServiceStatus) => peers.every(({ state }) => state !== "unknown");
        await until(async () => looked(await status.getStatus()));
        const expected = { service: suite.name, version: VERSION, ...suite.status };
        expect(await status.getStatus()).to.deep.equal(expected);
        expect(await health.check()).to.equal("serving");
        expect(await health.check({ service: "chaintables.v1.Status" })).to.equal("serving");
      } finally {
        status.close();
        health.close();
      }
    });

    it("tells the heads of its chains over gRPC, each with the blocks before it", async () => {
      const indexed = (suite.status?.chains ?? []).filter(({ indexedBlock }) => indexedBlock !== null);
      const client = createHeadsClient(service.grpcAddress);
      const heads = new Map<number, LiveHead>();
      const errors: unknown[] = [];
      const onHead = (head: LiveHead) => void heads.set(head.chainId, head);
      const stop = client.watch({ onHead, onEnd: (error) => errors.push(error) });
      try {
        await until(() => heads.size === indexed.length || errors.length > 0);
        expect(errors).to.deep.equal([]);
        for (const { chainId, indexedBlock, indexedBlockHash, indexedTime } of indexed) {
          const head = heads.get(chainId);
          const block = { block: indexedBlock, hash: indexedBlockHash };
          expect(head).to.deep.include({ chainId, ...block, time: indexedTime });
          expect(head?.recent.at(-1)).to.deep.equal(block);
        }
      } finally {
        stop();
        client.close();
      }
    });

    it("logs JSON lines without queries", async () => {
      await fetch(`${service.httpUrl}/no/such?secret=hunter2`);
      const requests = service.entries.filter((line) => line.msg === "request");
      expect(requests).not.to.be.empty;
      expect(JSON.stringify(service.entries))
        .not.to.contain("hunter2")
        .and.not.to.contain("no_such_parameter");
    });

    it("drains and exits with 0 on SIGTERM", async () => {
      expect(await service.stop("SIGTERM")).to.deep.equal({ code: 0, signal: null });
      expect(service.entries.map((line) => line.msg)).to.include.members(["draining", "stopped"]);
      const refused = await fetch(`${service.httpUrl}/livez`).catch(() => "refused");
      expect(refused).to.equal("refused");
    });
  });
}

/** Whether the store holds anything of what a case is about. */
function isRead(
  { withoutChain = [], status }: ServiceSuite,
  { path, family }: Endpoint,
  { query }: DerivedCase,
): boolean {
  if (withoutChain.includes(path)) return true;
  const chainId = family === "solana" ? 0 : Number(new URLSearchParams(query).get("chain_id") ?? 8453);
  return status.chains.some((chain) => chain.chainId === chainId && chain.indexedBlock !== null);
}

const BATCH = 16;

async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += BATCH) await Promise.all(items.slice(at, at + BATCH).map(work));
}

function mayBeAbsent({ whenAbsent }: Endpoint, query: string): boolean {
  return whenAbsent === "not_found" || /(^|&)at_(block|time)=/.test(query);
}

/** A 404 names the address, or the block that cannot be told. */
async function checkAbsent(
  response: Response,
  endpoint: Endpoint,
  { name, query }: DerivedCase,
): Promise<void> {
  const title = `${name} (${query})`;
  const { message } = await checkError(response, "not_found", title);
  if (isNotKept(message)) return;
  const address = /_address=(\w+)/.exec(query)?.[1] ?? "";
  if (endpoint.family !== "solana") expect(message.toLowerCase(), title).to.contain(address.toLowerCase());
  else expect(message, title).to.contain(address);
}

async function checkCase(
  httpUrl: string,
  endpoint: Endpoint,
  one: DerivedCase & { readonly isRead: boolean },
): Promise<void> {
  const response = await fetch(`${httpUrl}${endpoint.path}?${one.query}`);
  const title = `${one.name} (${one.query})`;
  if (one.expect === 400) {
    const { message } = await checkError(response, "bad_request", title);
    expect(message, title).to.match(/^Cannot parse /);
    if (one.parameter !== undefined) expect(message, title).to.contain(` ${one.parameter}: `);
    return;
  }
  if (!one.isRead) {
    // Neither "no rows" nor "no such item" would be true: the chain is not in the deployments, or no ingest has reported.
    const isAbsent = response.status === 404;
    const { message } = await checkError(response, isAbsent ? "not_found" : "unavailable", title);
    expect(message, title).to.match(isAbsent ? NOT_CONFIGURED : NO_SOURCE);
    if (!isAbsent) expect(Number(response.headers.get("retry-after")), title).to.be.within(1, 60);
    expect(response.headers.get("x-data-block"), title).to.equal(null);
    return;
  }
  if (response.status === 404 && mayBeAbsent(endpoint, one.query))
    return checkAbsent(response, endpoint, one);
  expect(response.status, title).to.equal(200);
  const format = formatAskedBy(one.query);
  expect(response.headers.get("content-type"), title).to.equal(mediaTypeOf(endpoint, format));
  const ignored = one.query.includes("no_such_parameter") ? "no_such_parameter" : null;
  expect(response.headers.get("x-ignored-parameters"), title).to.equal(ignored);
  // The other forms are read back in services/shared/format and deploy/test/format-walk.ts.
  if (format === "json") checkTable(endpoint, await bodyOf(response));
  else await response.body?.cancel();
}

function formatAskedBy(query: string): Format {
  const asked = new URLSearchParams(query).get(FORMAT_PARAM);
  return FORMATS.find((format) => format === asked) ?? "json";
}

/** One table, bare or in an array, whose columns are the declared ones and whose rows fit them. */
export function checkTable(endpoint: Endpoint, body: unknown): void {
  const tables = endpoint.body === "array" ? body : [body];
  expect(tables).to.be.an("array").with.length(1);
  const [table] = tables as [{ columns: unknown; data: unknown[][]; rows: number }];
  expect(table).to.have.keys("columns", "data", "rows");
  expect(table.columns).to.deep.equal(endpoint.columns.map(({ name, type }) => ({ name, type })));
  expect(table.rows).to.equal(table.data.length);
  for (const row of table.data) expect(row).to.have.length(endpoint.columns.length);
}

const NO_SOURCE = /^No source is configured for (Solana|chain \d+) \([A-Z0-9_]+\)\.$/;
const NOT_CONFIGURED =
  /^Chain \d+ is not configured on this instance \([A-Z0-9_]+\)\. Configured: chain \d+\.$/;

async function checkError(response: Response, code: ErrorCode, title = response.url): Promise<ErrorBody> {
  expect(response.status, title).to.equal(HTTP_STATUS[code]);
  expect(response.headers.get("content-type"), title).to.equal("application/json");
  const body = await bodyOf(response);
  expect(body, title).to.have.keys("error", "message", "session").and.include({ error: code });
  expect(response.headers.get("x-session-id"), title).to.equal(body.session);
  return body;
}

/** The first derived case: the required parameters with example values. */
function exampleUrl(httpUrl: string, endpoint: Endpoint): string {
  return `${httpUrl}${endpoint.path}?${deriveCases(endpoint)[0]?.query ?? ""}`;
}

async function checkHead(httpUrl: string, endpoint: Endpoint): Promise<void> {
  for (const url of [exampleUrl(httpUrl, endpoint), `${httpUrl}${endpoint.path}?chain_id=x&days=x`]) {
    const get = await fetch(url);
    const head = await fetch(url, { method: "HEAD" });
    expect(head.status, url).to.equal(get.status);
    expect(head.headers.get("content-type"), url).to.equal(get.headers.get("content-type"));
    expect(await head.text(), url).to.equal("");
    expect(head.headers.get("content-length"), url).to.equal(String((await get.arrayBuffer()).byteLength));
  }
}

async function checkExactPath(httpUrl: string, { path }: Endpoint): Promise<void> {
  for (const wrong of [`${path}/`, path.toUpperCase(), `/${path}`, `${path}x`]) {
    await checkError(await fetch(httpUrl + wrong), "not_found");
  }
}

/** While the data does not change, the tag of a 200 is answered with 304 and no body. */
async function checkNotModified(httpUrl: string, endpoint: Endpoint): Promise<void> {
  const url = exampleUrl(httpUrl, endpoint);
  const first = await fetch(url);
  const tag = first.headers.get("etag");
  if (first.status !== 200) {
    expect(tag, `${url}: an error has no tag`).to.equal(null);
    return;
  }
  expect(tag).to.match(/^W\/"/);
  const again = await fetch(url, { headers: { "If-None-Match": tag ?? "" } });
  const head = await fetch(url, { method: "HEAD", headers: { "If-None-Match": tag ?? "" } });
  for (const answer of [again, head]) {
    expect(answer.status, url).to.equal(304);
    expect(await answer.text(), url).to.equal("");
    expect(answer.headers.get("etag"), url).to.equal(tag);
    expect(answer.headers.get("cache-control"), url).to.match(/^private, max-age=[1-9]\d*$/);
    expect(answer.headers.get("cache-control"), url).to.equal(first.headers.get("cache-control"));
  }
  const other = await fetch(url, { headers: { "If-None-Match": 'W/"other"' } });
  expect(other.status, url).to.equal(200);
}
