import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import { readAnswer, sendRaw } from "../testkit/raw-http.ts";
import { mediaTypeOf, TABLE_TEXT } from "../testkit/upstream.ts";

const PATH = "/evm/dexb/v3/pools";
const HEAD = `GET ${PATH} HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${BOOTSTRAP_KEY}\r\n`;

describe("gateway: heads of tables", () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await startTestGateway();
  });
  afterEach(() => gateway.stop());

  /** The heads of a table on a kept connection, and of the same on the one that closes it. */
  const requestTwice = async () => {
    const { text } = await sendRaw(gateway.url, `${HEAD}\r\n${HEAD}Connection: close\r\n\r\n`);
    const at = text.indexOf("HTTP/1.1", 1);
    return { kept: readAnswer(text.slice(0, at)), closed: readAnswer(text.slice(at)) };
  };
  const without = (headers: Readonly<Record<string, string>>, ...names: string[]) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));

  it("are on a kept connection, where they are assembled from ready lines, those of node:http", async () => {
    gateway.evmDex.answer = (req, res) => {
      const type = mediaTypeOf(req.url ?? "");
      const data = { ETag: '"tag"', "X-Data-Block": "12", "X-Data-As-Of": "caf\xe9" };
      res.writeHead(200, { "Content-Type": type, ...data }).end(TABLE_TEXT);
    };
    const { kept, closed } = await requestTwice();
    const own = ["x-session-id", "date", "connection", "keep-alive"];
    expect(without(kept.headers, ...own)).to.deep.equal(without(closed.headers, ...own));
    expect(kept.headers).to.include({
      connection: "keep-alive",
      "x-data-block": "12",
      "x-data-as-of": "caf\xe9",
    });
    expect(closed.headers.connection).to.equal("close");
    for (const { status, headers, body } of [kept, closed]) {
      expect(status).to.equal(200);
      expect(body).to.equal(TABLE_TEXT);
      expect(Math.abs(Date.parse(headers.date as string) - Date.now())).to.be.below(5_000);
    }
    expect(kept.headers["x-session-id"]).not.to.equal(closed.headers["x-session-id"]);
  });

  it("state how long a connection may be reused", async () => {
    const { kept } = await requestTwice();
    expect(kept.headers["keep-alive"]).to.equal("timeout=65");
    const refused = await fetch(`${gateway.url}/nothing`);
    expect(refused.headers.get("keep-alive")).to.equal("timeout=65");
  });

  it("do not state it where the connection is closed", async () => {
    const { closed } = await requestTwice();
    expect(closed.headers).not.to.have.property("keep-alive");
  });
});
