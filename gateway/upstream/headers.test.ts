import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { headersForUpstream, keepAnswerHeaders } from "./headers.ts";

const identity = { session: "5e551011", clientAddress: "192.0.2.7" };

describe("headers to a service", () => {
  it("are the session, the address of the connection and what content negotiation needs, whatever was sent", () => {
    const sent = {
      accept: "application/json",
      "if-none-match": 'W/"a", W/"b"',
      "x-api-key": "secret",
      authorization: "Bearer secret",
      cookie: "a=secret",
      "payment-signature": "secret",
      "x-forwarded-for": "203.0.113.9",
      "x-session-id": "chosen by the client",
      connection: "keep-alive, x-api-key",
      "transfer-encoding": "chunked",
      host: "elsewhere.example",
    };
    expect(headersForUpstream(sent, identity)).to.deep.equal({
      "x-session-id": "5e551011",
      "x-forwarded-for": "192.0.2.7",
      accept: "application/json",
      "if-none-match": 'W/"a", W/"b"',
    });
  });

  it("never hold a name outside that list", () => {
    const names = new Set(["x-session-id", "x-forwarded-for", "accept", "if-none-match"]);
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), (sent) =>
        Object.keys(headersForUpstream(sent, identity)).every((name) => names.has(name)),
      ),
    );
  });

  it("are a new object for each request", () => {
    expect(headersForUpstream({}, identity)).not.to.equal(headersForUpstream({}, identity));
  });
});

describe("headers to a client", () => {
  it("keep what describes the data and drop hop-by-hop, cookies and what names the software", () => {
    const kept = {
      "content-type": "application/json",
      etag: 'W/"a"',
      "cache-control": "private, max-age=1",
      "retry-after": "2",
      "x-data-block": "7",
      "x-data-as-of": "2026-01-01T00:00:00+00:00",
      "x-data-from-block": "1",
      "x-data-stale": "prices; age=7",
      "x-ignored-parameters": "foo",
    };
    const headers = {
      ...kept,
      connection: "keep-alive",
      "keep-alive": "timeout=5",
      "content-length": "12",
      "set-cookie": ["a=b"],
      server: "inside",
      "x-powered-by": "Express",
      "x-session-id": "other",
      "proxy-authenticate": "Basic",
    };
    keepAnswerHeaders(headers);
    expect(headers).to.deep.equal(kept);
  });
});
