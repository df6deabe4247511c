import { type IncomingMessage, ServerResponse } from "node:http";
import { expect } from "chai";
import { describe, it } from "mocha";
import { checkRawHeads, supportsRawHeads } from "./response-head.ts";

/** A Node that keeps heads in another field. */
class RenamedResponse extends ServerResponse {
  constructor(req: IncomingMessage) {
    super(req);
    Object.defineProperty(this, "_header", { value: undefined, writable: true });
  }
}

/** A Node that has the field and does not send what is in it. */
class IgnoringResponse extends ServerResponse {
  override end(): this {
    Object.assign(this, { _header: null });
    return super.end("ok");
  }
}

describe("raw heads", () => {
  it("are supported by this Node", () => expect(supportsRawHeads()).to.equal(true));

  it("are not supported where the field is gone, or is not sent", () => {
    expect(supportsRawHeads((req) => new RenamedResponse(req))).to.equal(false);
    expect(supportsRawHeads((req) => new IgnoringResponse(req))).to.equal(false);
  });

  it("log one warning where Node has changed, and none where it has not", () => {
    const lines: string[] = [];
    const log = { warn: (_fields: unknown, message: string) => void lines.push(message) };
    expect(checkRawHeads(log as never)).to.equal(true);
    expect(lines).to.deep.equal([]);
    expect(checkRawHeads(log as never, false)).to.equal(false);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.contain("writeHead");
  });
});
