import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { afterEach, before, describe, it } from "mocha";
import { ConfigError } from "../host/env.ts";
import { createLog } from "../host/log.ts";
import { checkEndpoints, evmEndpoints, inspectEndpoints, solanaEndpoints } from "./preflight.ts";

type Reply = Readonly<Record<string, unknown>> | number | "silent";

describe("chain/preflight", () => {
  const servers: Server[] = [];

  /** An endpoint that gives every question the same answer; a number is an HTTP status. */
  async function endpoint(reply: Reply): Promise<string> {
    const server = createServer((req, res) => {
      let text = "";
      req.on("data", (part) => {
        text += part;
      });
      req.on("end", () => {
        if (reply === "silent") return;
        if (typeof reply === "number") return res.writeHead(reply).end("no");
        return res.end(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(text).id, ...reply }));
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://user:secret-password@127.0.0.1:${(server.address() as AddressInfo).port}/v3/secret-key`;
  }

  const hostOf = (url: string) => new URL(url).host;
  /** Nobody listens there any more. Not a low port: fetch refuses those by itself on Deno. */
  let dead = "";
  before(async () => {
    dead = new URL("/secret-key", await endpoint(200)).href;
    await new Promise((resolve) => servers.pop()?.close(resolve));
  });

  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  it("names host and reason of each endpoint that is no use, and never its key", async () => {
    const [good, other, solana, refusing, silent] = await Promise.all([
      endpoint({ result: "0x2105" }),
      endpoint({ result: "0x1" }),
      endpoint({ error: { code: -32601, message: "Method not found" } }),
      endpoint(401),
      endpoint("silent"),
    ]);
    const urls = [good, "wss://node.example", other, solana, refusing, dead, silent];
    const reports = await inspectEndpoints(evmEndpoints(8453, urls), { timeoutMs: 300 });
    expect(reports.map(({ kind }) => kind)).to.deep.equal([
      "ok",
      "wrong",
      "wrong",
      "unreachable",
      "unreachable",
      "unreachable",
    ]);
    const said = reports.map(({ sentence }) => sentence);
    expect(said[1]).to.equal(
      `${hostOf(other)} (EVM_RPC_8453) is not an endpoint of Base: its chain id is 1, not 8453.`,
    );
    expect(said[2]).to.include("it does not know eth_chainId");
    expect(said[3]).to.include(`${hostOf(refusing)} (EVM_RPC_8453) refuses requests: HTTP 401`);
    expect(said[4]).to.equal(`${hostOf(dead)} (EVM_RPC_8453) cannot be reached: the connection is refused.`);
    expect(said[5]).to.include("cannot be reached: no answer within 300 ms");
    expect(said.join()).not.to.include("secret");
  });

  it("holds endpoints of Solana against the first one that answers", async () => {
    const [cluster, other, forbidding] = await Promise.all([
      endpoint({ result: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d" }),
      endpoint({ result: "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG" }),
      endpoint({ error: { code: -32601, message: "Method not found" } }),
    ]);
    const reports = await inspectEndpoints(solanaEndpoints([dead, cluster, other, forbidding]));
    expect(reports.map(({ kind }) => kind)).to.deep.equal(["unreachable", "ok", "wrong", "ok"]);
    expect(reports[2]?.sentence).to.include("its genesis hash is EtWT");
  });

  it("ends a start at an endpoint of another chain, and only warns of one that may come back", async () => {
    const lines: string[] = [];
    const log = createLog({
      name: "ingest",
      level: "info",
      destination: { write: (line: string) => lines.push(line) },
    });
    const [good, other] = [await endpoint({ result: "0x2105" }), await endpoint({ result: "0x1" })];
    await checkEndpoints([evmEndpoints(8453, [good, dead])], { log });
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include(`${hostOf(dead)} (EVM_RPC_8453) cannot be reached`);
    const error = await checkEndpoints([evmEndpoints(8453, [good, other])], { log }).catch(
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(ConfigError);
    expect((error as Error).message).to.include(`${hostOf(other)} (EVM_RPC_8453) is not an endpoint of Base`);
  });
});
