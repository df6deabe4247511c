import { METHODS } from "node:http";
import fc from "fast-check";
import { catalogue } from "../catalogue.ts";

/** A request as it goes out on a raw connection. */
export interface OddRequest {
  readonly method: string;
  readonly path: string;
  readonly version: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Headers and bytes of its body; empty where it has none. */
  readonly framing: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

const SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
type Framed = Pick<OddRequest, "framing" | "body">;

const chunked = (body: string): Framed => ({ framing: [["Transfer-Encoding", "chunked"]], body });
const sized = (length: string, body: string): Framed => ({ framing: [["Content-Length", length]], body });

/** Bodies that a proxy passes on: their framing is right. */
const RIGHT: readonly Framed[] = [
  sized("1", "x"),
  sized("5", "hello"),
  sized(String(SMUGGLED.length), SMUGGLED),
  sized("70000", "b".repeat(70_000)),
  chunked("1\r\nx\r\n0\r\n\r\n"),
  chunked("0\r\n\r\n"),
  chunked(`${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`),
  chunked("3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nTrailer: t\r\n\r\n"),
];

/** Bodies that no proxy should pass on. */
const WRONG: readonly Framed[] = [
  sized("5", "hel"),
  sized("1", `x${SMUGGLED}`),
  sized("-1", "x"),
  sized("1, 1", "x"),
  chunked("zz\r\nhello"),
  chunked("5\r\nhel"),
  {
    framing: [
      ["Content-Length", "4"],
      ["Transfer-Encoding", "chunked"],
    ],
    body: "0\r\n\r\n",
  },
  {
    framing: [
      ["Transfer-Encoding", "chunked"],
      ["Content-Length", "1"],
    ],
    body: "1\r\nx\r\n0\r\n\r\n",
  },
  {
    framing: [
      ["Content-Length", "1"],
      ["Content-Length", "2"],
    ],
    body: "xy",
  },
  { framing: [["Transfer-Encoding", "xchunked"]], body: SMUGGLED },
];
const NO_BODY: Framed = { framing: [], body: "" };

const method = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("GET", "HEAD", "OPTIONS") },
  { weight: 3, arbitrary: fc.constantFrom(...METHODS.filter((each) => each !== "CONNECT")) },
);
const path = fc.constantFrom(
  ...catalogue.map((endpoint) => endpoint.path),
  ...[
    "/",
    "/docs",
    "/openapi.json",
    "/openapi-3.1.json",
    "/openapi-objects.json",
    "/usage",
    "/livez",
    "/readyz",
    "/metrics",
    "/nothing",
    "*",
    "//",
  ],
);
const host = fc.constantFrom<readonly [string, string]>(
  ["Host", "localhost"],
  ["Host", "localhost"],
  ["Host", "pay.example"],
);
const extra = fc.subarray<readonly [string, string]>(
  [
    ["X-API-KEY", "ct_wrong"],
    ["Accept-Encoding", "br"],
    ["If-None-Match", "*"],
    ["PAYMENT-SIGNATURE", "e30="],
    ["Origin", "http://elsewhere.example"],
    ["Access-Control-Request-Method", "GET"],
  ],
  { maxLength: 3 },
);

function requests(framed: fc.Arbitrary<Framed>, version: fc.Arbitrary<string>): fc.Arbitrary<OddRequest> {
  return fc
    .record({ method, path, version, host, extra, framed })
    .map(({ host: named, extra: more, framed: { framing, body }, ...rest }) => ({
      ...rest,
      headers: [named, ...more],
      framing,
      body,
    }));
}

/** Any method, with and without a body, that a proxy passes on. */
export const passedOn: fc.Arbitrary<OddRequest> = requests(
  fc.oneof(fc.constant(NO_BODY), fc.constantFrom(...RIGHT)),
  fc.constant("1.1"),
);

/** The same and worse: other versions, framing in doubt, tunnels and text that is no HTTP. */
export const anyForm: fc.Arbitrary<OddRequest> = requests(
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(NO_BODY) },
    { weight: 2, arbitrary: fc.constantFrom(...RIGHT) },
    { weight: 1, arbitrary: fc.constantFrom(...WRONG) },
  ),
  fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom("1.1", "1.1", "1.1", "1.0") },
    { weight: 1, arbitrary: fc.constantFrom("0.9", "2.0", "1.2", "3.0", "11", "x") },
  ),
);

export function textOf({ method: verb, path: target, version, headers, framing, body }: OddRequest): string {
  const lines = [...headers, ...framing].map(([name, value]) => `${name}: ${value}\r\n`);
  return `${verb} ${target} HTTP/${version}\r\n${lines.join("")}\r\n${body}`;
}
