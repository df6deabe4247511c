import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { inspectEndpoints } from "../../shared/rpc-client/preflight.ts";
import { createFakeEndpoints } from "../../shared/rpc-client/testkit/fake-endpoints.ts";
import { solanaEndpoints } from "./endpoints.ts";

describe("Solana's endpoints before a start", () => {
  const endpoints = createFakeEndpoints();
  const { endpoint } = endpoints;
  afterEach(() => endpoints.close());

  it("are compared with the first one that answers", async () => {
    const dead = await endpoints.deadUrl();
    const [cluster, other, forbidding] = await Promise.all([
      endpoint({ result: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d" }),
      endpoint({ result: "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG" }),
      endpoint({ error: { code: -32601, message: "Method not found" } }),
    ]);
    const reports = await inspectEndpoints(solanaEndpoints([dead, cluster, other, forbidding]));
    expect(reports.map(({ kind }) => kind)).to.deep.equal(["unreachable", "ok", "wrong", "ok"]);
    expect(reports[2]?.sentence).to.include("its genesis hash is EtWT");
  });
});
