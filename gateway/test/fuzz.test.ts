import { expect } from "chai";
import fc from "fast-check";
import { after, before, describe, it } from "mocha";
import { catalogue } from "../catalogue.ts";
import { expectErrorForm } from "../testkit/expect-error.ts";
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import { sendRaw } from "../testkit/raw-http.ts";

const paths = catalogue.map((endpoint) => endpoint.path);
/** Latin-1 without line ends: anything else would be another request line or header, which is not what is tried here. */
const text = fc.string({
  unit: fc
    .integer({ min: 1, max: 255 })
    .filter((code) => code !== 10 && code !== 13)
    .map((code) => String.fromCharCode(code)),
});
const word = fc.constantFrom(
  "evm",
  "chains",
  "..",
  ".",
  "",
  "%2e%2e",
  "%2f",
  "%00",
  "\\",
  "api",
  "v1",
  "solana",
  "__proto__",
  "*",
  "//",
  ";",
);
const path = fc.oneof(
  fc.constantFrom(...paths),
  fc.array(word, { maxLength: 6 }).map((words) => `/${words.join("/")}`),
  fc
    .tuple(fc.constantFrom(...paths), fc.constantFrom("/", "%20", "?", "#", "/..", "%", "/.", "A"))
    .map((parts) => parts.join("")),
  text.map((rest) => `/${rest}`),
);
const query = fc.oneof(
  fc.constant(""),
  text.map((rest) => `?${rest}`),
  fc
    .array(fc.tuple(fc.constantFrom("limit", "__proto__", "constructor", "chain_id", "a"), text))
    .map((pairs) => `?${pairs.map((pair) => pair.join("=")).join("&")}`),
);
const header = fc.tuple(
  fc.constantFrom(
    "X-API-KEY",
    "Cookie",
    "Accept",
    "If-None-Match",
    "X-Session-Id",
    "X-Forwarded-For",
    "Connection",
    "Expect",
    "Upgrade",
    "Content-Length",
    "Transfer-Encoding",
    "__proto__",
    "X-Http-Method-Override",
    "Host",
  ),
  fc.oneof(
    text,
    fc.constantFrom("0", "1", "chunked", "close", "keep-alive, x-api-key", "websocket", "*", "100-continue"),
  ),
);
const method = fc.constantFrom(
  "GET",
  "GET",
  "GET",
  "GET",
  "HEAD",
  "OPTIONS",
  "POST",
  "TRACE",
  "PURGE",
  "get",
  "CONNECT",
);

describe("gateway: fuzz", () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({ config: { deadlineMs: 2_000, logLevel: "silent" } });
  });
  after(() => gateway.stop());

  it("answers 600 requests of any form with no 5xx, and every error in the documented form", async () => {
    const headers = fc.array(header, { maxLength: 4 });
    const anyRequest = fc.record({ method, path, query, headers, hasKey: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(anyRequest, async (request) => {
        const answer = await sendRaw(gateway.url, toText(request));
        // An announced body that never comes and an unsupported tunnel end without a response.
        if (answer.text === "") return;
        expect(answer.status, answer.text).to.be.lessThan(500);
        if (answer.status < 400 || request.method === "HEAD") return;
        const { status, body, headers: sent } = answer;
        expectErrorForm({ status, body, type: sent["content-type"], session: sent["x-session-id"] });
      }),
      { numRuns: 600 },
    );
    const services = [gateway.evmDex, gateway.lending, gateway.solana];
    for (const { url } of services.flatMap((service) => service.seen)) {
      expect(paths).to.include(url.split("?")[0]);
    }
  });
});

interface AnyRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly hasKey: boolean;
}

function toText({ method: verb, path: where, query: what, headers, hasKey }: AnyRequest): string {
  const key: [string, string][] = hasKey ? [["X-API-KEY", BOOTSTRAP_KEY]] : [];
  const all = [["Host", "x"], ...key, ...headers, ["Connection", "close"]];
  return `${verb} ${where}${what} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}
