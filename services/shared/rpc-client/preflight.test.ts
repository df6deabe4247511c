import { expect } from "chai";
import { afterEach, before, describe, it } from "mocha";
import { evmEndpoints } from "../evm/endpoints.ts";
import { createLog } from "../logging/log.ts";
import { ConfigError } from "../settings/env.ts";
import { checkEndpoints, inspectEndpoints } from "./preflight.ts";
import { createFakeEndpoints } from "./testkit/fake-endpoints.ts";

describe("endpoints before a start", () => {
  const endpoints = createFakeEndpoints();
  const { endpoint } = endpoints;
  const hostOf = (url: string) => new URL(url).host;
  let dead = "";
  before(async () => {
    dead = await endpoints.deadUrl();
  });
  afterEach(() => endpoints.close());

  it("names host and reason of each unusable endpoint, and never its key", async () => {
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
    expect(said[5]).to.include("cannot be reached: no response within 300 ms");
    expect(said.join()).not.to.include("secret");
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
