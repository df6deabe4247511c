import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { InvalidResponse } from "./errors.ts";
import { parseHead } from "./http1.ts";

const head = (...lines: string[]) => ["HTTP/1.1 200 OK", ...lines].join("\r\n");

describe("transport: head of a response", () => {
  it("is status, headers and framing", () => {
    const { status, headers, framing, isKeptAlive } = parseHead(
      head("Content-Type: application/json", 'ETag:\t W/"a" ', "Content-Length: 12", "vary: A", "Vary: B"),
    );
    expect(status).to.equal(200);
    expect({ ...headers }).to.deep.equal({
      "content-type": "application/json",
      etag: 'W/"a"',
      "content-length": "12",
      vary: "A, B",
    });
    expect(framing).to.deep.equal({ kind: "length", bytes: 12 });
    expect(isKeptAlive).to.equal(true);
  });

  it("knows responses without a body, and reasons of any kind or none", () => {
    for (const line of ["HTTP/1.1 304 Not Modified", "HTTP/1.1 204", "HTTP/1.1 100 "]) {
      expect(parseHead(line).framing).to.deep.equal({ kind: "none" });
    }
    expect(parseHead("HTTP/1.1 304 x\r\nContent-Length: 7").framing).to.deep.equal({ kind: "none" });
    expect(parseHead("HTTP/1.1 503 a b \u00e9\r\nTransfer-Encoding: Chunked").framing.kind).to.equal(
      "chunked",
    );
  });

  it("keeps a connection unless the head closes it", () => {
    const end = "Content-Length: 0";
    expect(parseHead(head("Connection: close", end)).isKeptAlive).to.equal(false);
    expect(parseHead(head("Connection: Keep-Alive, Close", end)).isKeptAlive).to.equal(false);
    expect(parseHead(`HTTP/1.0 200 OK\r\n${end}`).isKeptAlive).to.equal(false);
    expect(parseHead(`HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n${end}`).isKeptAlive).to.equal(true);
  });

  it("is no object with a prototype that a header could reach", () => {
    const { headers } = parseHead(head("__proto__: x", "constructor: y", "Content-Length: 0"));
    expect(Object.getPrototypeOf(headers)).to.equal(null);
    expect(Object.keys(headers)).to.deep.equal(["__proto__", "constructor", "content-length"]);
  });

  it("is refused where framing is in doubt or a line is malformed", () => {
    const bad = {
      "no HTTP": "SMTP ready",
      "another version": "HTTP/2 200 OK",
      "no status": "HTTP/1.1 OK",
      "length and chunks": head("Content-Length: 1", "Transfer-Encoding: chunked"),
      "two lengths": head("Content-Length: 1", "Content-Length: 2"),
      "the same length twice": head("Content-Length: 1", "Content-Length: 1"),
      "a signed length": head("Content-Length: +1"),
      "a length in hexadecimal": head("Content-Length: 0x1"),
      "a coding that is not chunked": head("Transfer-Encoding: gzip, chunked"),
      "a body that ends with the connection": head("Content-Type: text/html"),
      "a folded line": head("X-A: 1", " 2", "Content-Length: 0"),
      "a blank before the colon": head("Content-Length : 0"),
      "a line without a colon": head("Content-Length"),
      "a bare line feed": head("X-A: 1\nX-B: 2", "Content-Length: 0"),
      "a bare carriage return": head("X-A: 1\rX-B: 2", "Content-Length: 0"),
      "a NUL": head("X-A: \0", "Content-Length: 0"),
      "another control character": head("X-A: \x1b[0m", "Content-Length: 0"),
      "a coding of the body": head("Content-Encoding: gzip", "Content-Length: 0"),
    };
    for (const [what, text] of Object.entries(bad))
      expect(() => parseHead(text), what).to.throw(InvalidResponse);
  });

  it("is read or refused, whatever the text", () => {
    const line = fc.oneof(
      fc.string(),
      fc.constantFrom("Content-Length: 3", "Transfer-Encoding: chunked", "a: b", ""),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        try {
          expect(parseHead(head(...lines)).status).to.equal(200);
        } catch (error) {
          expect(error).to.be.instanceOf(InvalidResponse);
        }
      }),
    );
  });
});
