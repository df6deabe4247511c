import fc from "fast-check";
import { describeParameters } from "../../services/shared/contract/derive/parameters.ts";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import { lineText, MARK, queriesOf } from "./fuzz-values.ts";

/** A request as it goes out. */
export interface FuzzRequest {
  readonly listener: "gateway" | "pay";
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** What follows the head. */
  readonly body: string;
  /** Which API key comes along. */
  readonly key: "good" | "none" | "wrong";
}

const METHODS = [
  "GET",
  "GET",
  "GET",
  "GET",
  "GET",
  "GET",
  "HEAD",
  "OPTIONS",
  "POST",
  "PUT",
  "DELETE",
  "TRACE",
];
const OTHER_METHODS = ["PROPFIND", "PURGE", "QUERY", "BREW", "get", "CONNECT", "SOURCE", "M-SEARCH"];
const PAGES = [
  "/",
  "/docs",
  "/docs/",
  "/openapi.json",
  "/usage",
  "/livez",
  "/readyz",
  "/metrics",
  "/usage/",
  "/docs/..",
];
const WORDS = [
  ...[
    "evm",
    "chains",
    "api",
    "v1",
    "solana",
    "tokens",
    "dexb",
    "v3",
    "pool",
    "..",
    ".",
    "",
    "%2e%2e",
    "%2E.",
  ],
  ...[
    "%2f",
    "%5c",
    "\\",
    "%00",
    "%0d%0a",
    ";a=b",
    "__proto__",
    "constructor",
    "*",
    "%",
    "%zz",
    "a b",
    MARK,
    "~",
  ],
  ...["etc", "passwd", "%c0%af", "\u00e9", "EVM", "{}", "[", "|", "<x>", '"', "@", ":8080", "http:"],
];

const brokenPath = (paths: readonly string[]) =>
  fc.oneof(
    fc.array(fc.constantFrom(...WORDS), { maxLength: 7 }).map((words) => `/${words.join("/")}`),
    fc
      .tuple(
        fc.constantFrom(...paths),
        fc.constantFrom(
          "/",
          "//",
          "%20",
          "#",
          "#x?y",
          "/..",
          "/.",
          "%",
          "A",
          ".json",
          ";a",
          "%2f",
          "\\",
          "\u00a0",
        ),
      )
      .map((parts) => parts.join("")),
    fc.constantFrom(...paths).map((path) => path.replace("/", "//")),
    fc.constantFrom(...paths).map((path) => path.toUpperCase()),
    fc.constantFrom(...paths).map((path) => path.replaceAll("/", "%2F")),
    fc.constantFrom(...paths).map((path) => path.replace("e", "%65")),
    fc.constantFrom(...paths).map((path) => `http://elsewhere.example${path}`),
    fc.constantFrom(...paths).map((path) => `//elsewhere.example${path}`),
    fc.constantFrom(
      "*",
      "http://elsewhere.example",
      "ftp://elsewhere.example/",
      "evm/chains",
      "/".repeat(9_000),
    ),
    lineText.map((text) => `/${text.replaceAll(" ", "%20")}`),
  );

const NAMES = [
  ...[
    "Accept",
    "Accept-Language",
    "Authorization",
    "Content-Type",
    "Cookie",
    "Cache-Control",
    "Expect",
    "Forwarded",
  ],
  ...[
    "From",
    "If-Match",
    "If-Modified-Since",
    "If-None-Match",
    "Max-Forwards",
    "Origin",
    "Pragma",
    "Range",
    "Referer",
  ],
  ...["TE", "Trailer", "Upgrade", "User-Agent", "Via", "X-API-KEY", "X-Forwarded-For", "X-Forwarded-Host"],
  ...[
    "X-Http-Method-Override",
    "X-Original-URL",
    "X-Request-Id",
    "X-Rewrite-URL",
    "X-Session-Id",
    "Connection",
  ],
  ...[
    "HTTP2-Settings",
    "Access-Control-Request-Headers",
    "__proto__",
    "constructor",
    "PAYMENT-SIGNATURE",
    "X-PAYMENT",
  ],
];
const VALUES = [
  ...[
    "*",
    '"*"',
    'W/"x"',
    "0",
    "-1",
    "bytes=0-1",
    "bytes=0-0,-1",
    "close",
    "keep-alive, x-api-key",
    "upgrade",
  ],
  ...["websocket", "h2c", "100-continue", "tea", "text/html", "application/json;q=0", "trailers", "no-cache"],
  ...[
    "127.0.0.1",
    "10.0.0.1, 127.0.0.1",
    "::1",
    "null",
    "elsewhere.example",
    "/docs",
    "Basic eDp5",
    "e30=",
    "bnVsbA==",
  ],
];
const header = fc.tuple(fc.constantFrom(...NAMES), fc.oneof(fc.constantFrom(...VALUES), lineText));
const encoding = fc
  .constantFrom("gzip", "br", "br;q=0, gzip;q=0.5", "*", "identity", "*;q=0", "gzip, gzip;q=x", ",;=")
  .map((value): [string, string] => ["Accept-Encoding", value]);
const hosts = [
  ...[
    "localhost",
    "pay.example",
    "PAY.example:80",
    "evil.example",
    "evil.example/..",
    "a@pay.example",
    "[::1]:1",
  ],
  ...["x".repeat(300), "pay.example.", "127.0.0.1", "x y", "<x>", ""],
];

/** Framings of bodies that no request here may have, and some that are no framing at all. */
const bodies: readonly (readonly [headers: readonly (readonly [string, string])[], body: string])[] = [
  [[["Content-Length", "0"]], ""],
  [[["Content-Length", "5"]], "hello"],
  [[["Content-Length", "5"]], "hel"],
  [[["Content-Length", "4"]], "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"],
  [[["Content-Length", "-1"]], "x"],
  [[["Content-Length", "+3"]], "abc"],
  [
    [
      ["Content-Length", "3"],
      ["Content-Length", "3"],
    ],
    "abc",
  ],
  [[["Content-Length", "3, 3"]], "abc"],
  [[["Content-Length", "99999999999999999999"]], ""],
  [[["Transfer-Encoding", "chunked"]], "5\r\nhello\r\n0\r\n\r\n"],
  [[["Transfer-Encoding", "chunked"]], "zz\r\nhello"],
  [
    [
      ["Transfer-Encoding", "chunked"],
      ["Content-Length", "4"],
    ],
    "0\r\n\r\n",
  ],
  [[["Transfer-Encoding", "identity"]], ""],
  [[["Transfer-Encoding", "xchunked"]], "0\r\n\r\n"],
  [[["Transfer-Encoding", "chunked, identity"]], "0\r\n\r\n"],
  [[["Transfer-Encoding", "\u000bchunked"]], "0\r\n\r\n"],
  [[["X-Folded", "a\r\n b"]], ""],
  [[["X-Bare", "a\nX-Injected: 1"]], ""],
];

const oneOfPayments = fc.oneof(
  lineText,
  fc.jsonValue({ maxDepth: 6 }).map((value) => Buffer.from(JSON.stringify(value)).toString("base64")),
  fc
    .record({
      x402Version: fc.constantFrom<unknown>(2, 1, "2", null),
      resource: fc.constantFrom<unknown>({ url: "http://x" }, null, "x"),
      accepted: fc.jsonValue({ maxDepth: 2 }),
      payload: fc.oneof(
        fc.jsonValue({ maxDepth: 3 }),
        fc.record({
          signature: fc.constantFrom("0x", `0x${"00".repeat(65)}`, `0x${"ff".repeat(3_000)}`),
          authorization: fc.record({
            from: fc.constantFrom(`0x${"11".repeat(20)}`, "0x", 5, null),
            to: fc.constantFrom(`0x${"22".repeat(20)}`, "__proto__"),
            value: fc.constantFrom("50000", "-1", "1e9", 50_000, "9".repeat(80)),
            validAfter: fc.constantFrom("0", "x"),
            validBefore: fc.constantFrom("99999999999", "0", null),
            nonce: fc.constantFrom(`0x${"33".repeat(32)}`, "0x"),
          }),
        }),
      ),
      extensions: fc.constantFrom<unknown>(
        undefined,
        null,
        { __proto__: {} },
        { "payment-identifier": { info: 1 } },
      ),
    })
    .map((value) => Buffer.from(JSON.stringify(value)).toString("base64")),
);

const UNUSUAL = { minLength: 1, maxLength: 4 };

/** Any requests: half of them what a client could well mean, most others what it could not, and some that pay. */
export function anyRequest(
  catalogue: readonly Endpoint[],
  known: readonly string[],
): fc.Arbitrary<FuzzRequest> {
  const paths = catalogue.map(({ path }) => path);
  const targets = catalogue.map((endpoint) =>
    queriesOf(describeParameters(endpoint), known).map(
      (query) => `${endpoint.path}${query === "" ? "" : `?${query}`}`,
    ),
  );
  const target = fc.oneof(...targets);
  const anyTarget = fc.oneof(
    { weight: 5, arbitrary: target },
    { weight: 1, arbitrary: fc.constantFrom(...PAGES) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(brokenPath(paths), fc.oneof(fc.constant(""), target))
        .map((parts) => parts.join("?")),
    },
  );
  const key = fc.constantFrom<FuzzRequest["key"]>("good", "good", "good", "none", "wrong");
  const usual = fc.record({
    listener: fc.constant<FuzzRequest["listener"]>("gateway"),
    method: fc.constantFrom("GET", "GET", "GET", "HEAD"),
    target,
    headers: fc.array(encoding, { maxLength: 1 }),
    body: fc.constant(""),
    key: fc.constant<FuzzRequest["key"]>("good"),
  });
  const framed = fc.oneof(
    { weight: 4, arbitrary: fc.constant([[], ""] as (typeof bodies)[number]) },
    { weight: 1, arbitrary: fc.constantFrom(...bodies) },
  );
  const unusual = fc
    .record({
      method: fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...METHODS) },
        { weight: 1, arbitrary: fc.constantFrom(...OTHER_METHODS) },
      ),
      target: anyTarget,
      headers: fc.array(fc.oneof({ weight: 5, arbitrary: header }, encoding), UNUSUAL),
      host: fc.option(fc.constantFrom(...hosts), { freq: 3 }),
      framed,
      key,
      payment: fc.option(oneOfPayments, { freq: 3 }),
      listener: fc.constantFrom<FuzzRequest["listener"]>("gateway", "gateway", "gateway", "pay"),
    })
    .map(({ host, framed: [framing, body], payment, headers, ...rest }): FuzzRequest => {
      const paid = payment === null ? [] : [["PAYMENT-SIGNATURE", payment] as const];
      const named = host === null ? [] : [["Host", host] as const];
      return { ...rest, body, headers: [...named, ...paid, ...headers, ...framing] };
    });
  const paying = fc.record({
    listener: fc.constant<FuzzRequest["listener"]>("pay"),
    method: fc.constant("GET"),
    target: fc.oneof(...targets.filter((_, at) => catalogue[at]?.priceUsd !== undefined)),
    headers: fc.option(oneOfPayments, { freq: 3 }).map((payment) => {
      return payment === null ? [] : [["PAYMENT-SIGNATURE", payment] as const];
    }),
    body: fc.constant(""),
    key: fc.constant<FuzzRequest["key"]>("none"),
  });
  return fc.oneof(
    { weight: 10, arbitrary: usual },
    { weight: 10, arbitrary: unusual },
    { weight: 1, arbitrary: paying },
  );
}

/** The bytes of a request, as Latin-1. It requests that its connection is closed, so that its end is seen. */
export function textOf(request: FuzzRequest, keys: { readonly good: string }): string {
  const { method, target, headers, body, key } = request;
  const own: (readonly [string, string])[] = headers.some(([name]) => name === "Host")
    ? []
    : [["Host", "localhost"]];
  if (key !== "none") own.push(["X-API-KEY", key === "good" ? keys.good : `ct_${MARK}`]);
  const lines = [...own, ...headers, ["Connection", "close"]].map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}
