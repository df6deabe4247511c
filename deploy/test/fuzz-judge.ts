import { expect } from "chai";
import { type AsOf, isAsOf } from "../../services/shared/contract/as-of.ts";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import { FORMAT_PARAM, FORMATS, mediaTypeOf } from "../../services/shared/contract/format.ts";
import { parseQuery } from "../../services/shared/contract/parse.ts";
import { type ErrorCode, HTTP_STATUS, ServiceError } from "../../services/shared/errors.ts";
import type { FuzzRequest } from "./fuzz-requests.ts";
import type { RawAnswer } from "./raw-exchange.ts";

/** Every header that an answer of the gateway may have. */
const HEADERS = new Set([
  ...["access-control-allow-headers", "access-control-allow-methods", "access-control-allow-origin"],
  ...[
    "access-control-expose-headers",
    "access-control-max-age",
    "age",
    "allow",
    "cache-control",
    "connection",
  ],
  ...[
    "content-encoding",
    "content-length",
    "content-security-policy",
    "content-type",
    "cross-origin-opener-policy",
  ],
  ...["cross-origin-resource-policy", "date", "etag", "keep-alive", "location", "origin-agent-cluster"],
  ...["payment-required", "ratelimit", "ratelimit-policy", "referrer-policy", "retry-after"],
  ...["strict-transport-security", "transfer-encoding", "vary", "www-authenticate", "x-cache"],
  ...["x-content-type-options", "x-data-as-of", "x-data-block", "x-data-block-hash", "x-data-from-block"],
  ...[
    "x-data-head",
    "x-data-positions-from-block",
    "x-data-stale",
    "x-data-swap-share",
    "x-total-count",
    "link",
  ],
  ...["x-dns-prefetch-control", "x-download-options", "x-frame-options", "x-ignored-parameters"],
  ...["x-permitted-cross-domain-policies", "x-session-id", "x-xss-protection"],
]);
const ERROR_FIELDS = ["error", "message", "session"];
/** A 402 carries its offer. */
const OFFER_FIELDS = ["x402Version", "resource", "accepts", "extensions"];
/** Paths and texts of our own code and of its dependencies. */
const INSIDES = /node_modules|\bat [\w.<>]+ \(|\.ts:\d|\/services\/|127\.0\.0\.1|ECONN|\[object |undefined/;
const SESSION = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The stack indexes Base and Solana: of Ethereum it knows what is deployed, and no more. */
const NOT_CONFIGURED = "Chain 1 is not configured on this instance (EVM_RPC_1). Configured: chain 8453.";
const WITHOUT_CHAIN: ReadonlySet<string> = new Set(["/evm/chains", "/evm/dexes"]);

/** Checks a response against what is promised of every one; throws an AssertionError. */
export function judge(
  request: FuzzRequest,
  answer: RawAnswer,
  catalogue: ReadonlyMap<string, Endpoint>,
): void {
  const { status, headers, body, behind } = answer;
  expect(status, body).to.be.within(200, 499);
  expect(status, `the deadline passed: ${body}`).not.to.equal(408);
  expect(status, body).not.to.equal(429);
  expect(behind, "more than one answer").to.equal("");
  const named = new Map(headers);
  expect(named.size, "a header came twice").to.equal(headers.length);
  for (const [name, value] of headers) {
    expect(HEADERS.has(name), `${name}: ${value}`).to.equal(true);
    expect(value, name).to.match(/^[\x20-\x7e]*$/);
  }
  expect(named.get("x-session-id")).to.match(SESSION);
  expect(named.get("x-content-type-options")).to.equal("nosniff");
  if (request.method !== "HEAD" && status >= 400) judgeError(status, body, named);
  judgePlain(request, answer, catalogue);
}

function judgeError(status: number, body: string, named: ReadonlyMap<string, string>): void {
  expect(named.get("content-type")).to.equal("application/json");
  expect(named.get("cache-control")).to.equal("no-store");
  const error = JSON.parse(body) as { error: ErrorCode; message: string; session: string };
  const fields = status === 402 ? [...ERROR_FIELDS, ...OFFER_FIELDS] : ERROR_FIELDS;
  expect(Object.keys(error)).to.deep.equal(fields);
  expect(HTTP_STATUS[error.error]).to.equal(status);
  expect(error.session).to.equal(named.get("x-session-id"));
  expect(error.message).to.match(/^[\x20-\x7e…]{10,1000}$/);
  // What a client sent may be quoted; what is left are our own words.
  expect(error.message.replace(/"(?:[^"\\]|\\.)*"/g, '""')).not.to.match(INSIDES);
}

/** A request for a table without anything unusual about it: what comes back follows from its query. */
function judgePlain(request: FuzzRequest, answer: RawAnswer, catalogue: ReadonlyMap<string, Endpoint>): void {
  const { status, body, headers } = answer;
  const { path, query } = splitPlain(request);
  const endpoint = path === undefined ? undefined : catalogue.get(path);
  if (endpoint === undefined) return;
  const named = new Map(headers);
  const refusal = refusalOf(endpoint, query);
  if (refusal !== undefined) {
    expect(status, body).to.equal(400);
    if (request.method === "GET")
      expect(JSON.parse(body).message).to.be.oneOf([refusal, ...refusalsInOtherOrders(endpoint, query)]);
    return;
  }
  if (parseQuery(endpoint, query).params.chain_id === 1 && !WITHOUT_CHAIN.has(endpoint.path)) {
    expect(status, body.slice(0, 300)).to.equal(404);
    if (request.method === "GET") expect(JSON.parse(body).message).to.equal(NOT_CONFIGURED);
    return;
  }
  const mayBeAbsent =
    endpoint.whenAbsent === "not_found" || isAsOf(parseQuery(endpoint, query).params as AsOf);
  expect(mayBeAbsent ? [200, 404] : [200], body.slice(0, 300)).to.include(status);
  if (status !== 200) return;
  const asked = new URLSearchParams(query).get(FORMAT_PARAM);
  const format = FORMATS.find((each) => each === asked) ?? "json";
  expect(named.get("content-type")).to.equal(mediaTypeOf(endpoint, format));
  if (request.method === "HEAD" || format !== "json") return;
  const parsed = JSON.parse(body);
  const table = endpoint.body === "array" ? parsed[0] : parsed;
  if (endpoint.body === "array") expect(parsed).to.have.length(1);
  expect(Object.keys(table)).to.deep.equal(["columns", "data", "rows"]);
  const names = table.columns.map(({ name }: { name: string }) => name);
  expect(names).to.deep.equal(endpoint.columns.map(({ name }) => name));
  expect(table.data).to.have.length(table.rows);
}

/** Path and query of a request that is plain: nothing in its headers or target is out of the ordinary. */
function splitPlain({ listener, method, target, headers, body, key }: FuzzRequest): {
  path?: string;
  query: string;
} {
  const isPlain =
    listener === "gateway" &&
    key === "good" &&
    body === "" &&
    (method === "GET" || method === "HEAD") &&
    target.length <= 24_576 &&
    /^[\x21-\x7e]*$/.test(target) &&
    !target.includes("#") &&
    headers.every(([name]) => name === "Accept-Encoding");
  if (!isPlain) return { query: "" };
  const mark = target.indexOf("?");
  return mark === -1
    ? { path: target, query: "" }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}

/**
 * Requests that differ in the order of their parameters alone share an answer while it is under way
 * (gateway/proxy/cache/cache-key.ts), and of two parameters that were sent twice the first one is named.
 */
function refusalsInOtherOrders(endpoint: Endpoint, query: string): (string | undefined)[] {
  const pairs = query.split("&");
  const nameOf = (pair: string) => pair.split("=")[0];
  return [...new Set(pairs.map(nameOf))].map((name) => {
    const first = pairs.filter((pair) => nameOf(pair) === name);
    const rest = pairs.filter((pair) => nameOf(pair) !== name);
    return refusalOf(endpoint, [...first, ...rest].join("&"));
  });
}

function refusalOf(endpoint: Endpoint, query: string): string | undefined {
  try {
    parseQuery(endpoint, query);
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error.message;
    throw error;
  }
}
