import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex, Readable } from "node:stream";
import { expect } from "chai";
import { describe, it } from "mocha";
import type { RequestContext } from "../../request/context.ts";
import { fixHeaders, HeaderList } from "../../request/response-head.ts";
import { until } from "../../testkit/until.ts";
import { createDelivery, type StreamedResponse } from "./delivery.ts";
import { EncodableResponse } from "./encodable-response.ts";

const STALL_MS = 2_000;
const PIECES = 20;
const PIECE = Buffer.alloc(65_536, "x");

/** A client whose connection takes each piece of a response when `take` says so. */
function clientThat(take: (done: () => void) => void) {
  let taken = 0;
  const connection = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      take(() => {
        taken += chunk.length;
        done();
      });
    },
  });
  const req = Object.assign(new IncomingMessage(connection as Socket), { method: "GET" });
  const res = new ServerResponse(req);
  res.assignSocket(connection as Socket);
  // What a server does for its responses.
  connection.on("drain", () => res.emit("drain"));
  return { req, res, taken: () => taken };
}

function sendLong({ req, res }: ReturnType<typeof clientThat>): void {
  const body = Object.assign(Readable.from(Array.from({ length: PIECES }, () => PIECE)), {
    byteLength: PIECES * PIECE.length,
  });
  const response = { status: 200, headers: {}, body } as unknown as StreamedResponse;
  const context = { req, res, fields: {}, session: "s" } as unknown as RequestContext;
  createDelivery({ isDraining: () => false, stallMs: STALL_MS }).sendStreamed(context, response, []);
}

describe("delivery of streamed tables", () => {
  it("cuts a client that reads nothing, however its connection is kept alive", async () => {
    const client = clientThat(() => {});
    sendLong(client);
    await until(() => client.res.destroyed);
    expect(client.taken()).to.equal(0);
  });

  it("continues for a slow client that reads piece after piece", async () => {
    const client = clientThat((done) => setTimeout(done, STALL_MS / 50));
    sendLong(client);
    await until(() => client.res.writableFinished || client.res.destroyed);
    expect(client.taken()).to.be.above(PIECES * PIECE.length);
  });
});

describe("delivery of complete tables", () => {
  /** The bytes that a client receives, without what differs between two responses. */
  async function bytesOf(usesRawHeads: boolean): Promise<string> {
    let sent = "";
    const connection = new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        sent += chunk.toString("latin1");
        done();
      },
    });
    const req = Object.assign(new IncomingMessage(connection as Socket), {
      method: "GET",
      httpVersionMajor: 1,
    });
    const res = new ServerResponse(Object.assign(req, { httpVersionMinor: 1, httpVersion: "1.1" }));
    res.assignSocket(connection as Socket);
    const headers = new HeaderList(fixHeaders(["X-Fixed", "a"]));
    headers.setHeader("X-Own", "b");
    const context = { req, res, fields: {}, session: "s", headers } as unknown as RequestContext;
    const table = new EncodableResponse({
      headers: { "content-type": "application/json", etag: '"t"' },
      body: Buffer.from("[]"),
    });
    const delivery = createDelivery({ isDraining: () => false, usesRawHeads });
    await delivery.sendComplete(context, table, ["X-Cache", "miss"]);
    await until(() => sent.endsWith("[]"));
    return sent.replace(/Date: [^\r]+/, "Date: x");
  }
  const linesOf = (text: string): string[] => text.split("\r\n").sort();

  it("sends the same lines as text and, where Node has changed, by writeHead", async () => {
    const raw = await bytesOf(true);
    expect(raw)
      .to.contain("X-Fixed: a\r\n")
      .and.to.contain("X-Own: b\r\n")
      .and.to.contain("X-Cache: miss\r\n");
    expect(linesOf(await bytesOf(false))).to.deep.equal(linesOf(raw));
  });
});
