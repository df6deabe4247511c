import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { headersForUpstream, isForwardedHeader } from "./headers.ts";

const SESSION = "5e551011";
const conditional = { ifNoneMatch: 'W/"a", W/"b"' };

describe("headers to a service", () => {
  it("are the session and the client's tags", () => {
    expect(headersForUpstream(SESSION, conditional)).to.deep.equal({
      "x-session-id": "5e551011",
      "if-none-match": 'W/"a", W/"b"',
    });
    expect(headersForUpstream(SESSION, { ifNoneMatch: undefined })).to.deep.equal({
      "x-session-id": "5e551011",
    });
  });

  it("are a new object for each request", () => {
    expect(headersForUpstream(SESSION, conditional)).not.to.equal(headersForUpstream(SESSION, conditional));
  });
});

describe("headers to a client", () => {
  it("are those that describe the data", () => {
    const names = [
      ...["content-type", "etag", "cache-control", "retry-after", "vary", "last-modified"],
      ...["x-data-block", "x-data-as-of", "x-data-from-block", "x-data-stale", "x-ignored-parameters"],
    ];
    for (const name of names) expect(isForwardedHeader(name), name).to.equal(true);
  });

  it("include no hop-by-hop headers, no cookies, nothing that names the software, and no unknown ones", () => {
    const names = [
      ...["connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "content-length"],
      ...["set-cookie", "server", "x-powered-by", "x-session-id", "proxy-authenticate", "date", "age"],
      ...["content-encoding", "location", "payment-response", "__proto__", "access-control-allow-origin"],
    ];
    for (const name of names) expect(isForwardedHeader(name), name).to.equal(false);
    fc.assert(
      fc.property(
        fc.string(),
        (name) => isForwardedHeader(`z${name}`) === false && isForwardedHeader(`X-${name}`) === false,
      ),
    );
  });
});
