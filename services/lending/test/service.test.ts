import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { bodyOf, until } from "../../shared/host/testkit/fixture.ts";
import { type ServiceProcess, startServiceProcess } from "../../shared/host/testkit/service-process.ts";
import { describeService } from "../../shared/host/testkit/service-suite.ts";
import { startGrpcServer } from "../../shared/rpc/server.ts";
import { endpoints } from "../contract.ts";

const entry = new URL("../main.ts", import.meta.url);
/** A port nobody listens on: evm-dex is absent. */
const NOBODY = "127.0.0.1:1";

describeService({
  name: "lending",
  entry,
  env: { EVM_DEX_GRPC: NOBODY },
  endpoints,
  status: { mode: "empty", chains: [], peers: [{ name: "evm-dex", state: "unreachable" }] },
});

describe("lending and its peer evm-dex", () => {
  let service: ServiceProcess | undefined;
  afterEach(async () => {
    await service?.stop();
  });

  it("shows in readiness and metrics whether evm-dex serves, and stays ready without it", async () => {
    const own = { mode: "serving", chains: [], peers: [] } as const;
    const evmDex = await startGrpcServer({
      host: "127.0.0.1",
      port: 0,
      services: {
        status: { getStatus: async () => ({ service: "evm-dex", version: "", ...own }) },
        health: async () => true,
      },
    });
    const { httpUrl } = await startServiceProcess(entry, { EVM_DEX_GRPC: evmDex.address }).then((started) => {
      service = started;
      return started;
    });
    const peerState = async () => {
      const ready = await fetch(`${httpUrl}/readyz`);
      expect(ready.status).to.equal(200);
      return (await bodyOf(ready)).peers["evm-dex"];
    };
    const metrics = async () => (await fetch(`${httpUrl}/metrics`)).text();
    await until(async () => (await peerState()) === "serving");
    expect(await metrics()).to.contain('peer_serving{peer="evm-dex",service="lending"} 1');
    await evmDex.stop({ timeoutMs: 100 });
    await until(async () => (await peerState()) !== "serving");
    expect(await metrics()).to.contain('peer_serving{peer="evm-dex",service="lending"} 0');
  });

  it("ends with the code of a wrong configuration and names the variable", async () => {
    const failure = await startServiceProcess(entry, { EVM_DEX_GRPC: "nowhere" }).catch((error) => error);
    expect(failure).to.be.instanceOf(Error);
    expect(failure.message).to.contain("ended with 78").and.contain("Cannot read EVM_DEX_GRPC");
  });
});
