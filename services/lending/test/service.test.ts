import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, afterEach, before, it } from "mocha";
import { startGrpcServer } from "../../shared/grpc/server.ts";
import { headers } from "../../shared/index/evm/headers.ts";
import { SERVED, withoutSource } from "../../shared/ingest-status/testkit/status-row.ts";
import { createTokenCheck } from "../../shared/service/service-token.ts";
import { openStore } from "../../shared/storage/open.ts";
import { put } from "../../shared/storage/port.ts";
import { describeThorough, describeWithProcesses, itThorough } from "../../shared/testkit/describe.ts";
import { bodyOf, until } from "../../shared/testkit/fixture.ts";
import { type ServiceProcess, startServiceProcess } from "../../shared/testkit/service-process.ts";
import { describeService } from "../../shared/testkit/service-suite.ts";
import { endpoints } from "../contract.ts";
import { PROTOCOL_IDS } from "../protocols/protocol-id.ts";
import { COLLECTIONS, checkpoints, entities } from "../store/collections.ts";
import { worldOf } from "./list-suites.ts";
import { CHAIN_ID, checkpointRow, unitRow } from "./stored.ts";

const entry = new URL("../main.ts", import.meta.url);
/** A port without a listener: evm-dex is absent. */
const NO_LISTENER = "127.0.0.1:1";
const dataDirs = [0, 1].map(() => join(tmpdir(), `chaintables-lending-${randomUUID()}`));
const [emptyDir = "", filledDir = ""] = dataDirs;
const env = { EVM_DEX_GRPC: NO_LISTENER, DATA_DIR: emptyDir, DEPLOYMENTS_FILE: undefined };
const UNREACHABLE = [{ name: "evm-dex", state: "unreachable" }] as const;
after(() => Promise.all(dataDirs.map((dir) => rm(dir, { recursive: true, force: true }))));

describeThorough("lending with an empty store", () => {
  const unknown = { indexedBlock: null, indexedBlockHash: null, indexedTime: null, fromBlock: null };
  const nothing = { ...unknown, chainHead: null, lagBlocks: null };
  describeService({
    ...{ name: "lending", entry, env, endpoints },
    status: {
      mode: "empty",
      chains: [
        { chainId: 1, name: "Ethereum", ...nothing, ...withoutSource(1) },
        { chainId: 8453, name: "Base", ...nothing, ...withoutSource(8453) },
      ],
      peers: UNREACHABLE,
    },
  });
});

describeWithProcesses("lending with data and without evm-dex", () => {
  // Ahead of the clock: this is read long before its tests come, and a head that lags is stale.
  const now = Math.floor(Date.now() / 1000) + 3_600;
  const head = checkpointRow({ blockTime: now, chainHead: 203 });
  before(async () => {
    const store = await openStore({ service: "lending", dataDir: filledDir });
    await store.declare(COLLECTIONS);
    const rows = PROTOCOL_IDS.map((id) => unitRow("all", { rows: worldOf(id), block: 200, version: 1 }));
    const header = { chainId: CHAIN_ID, number: 200, hash: "0x200", parentHash: "0x199", time: now };
    await store.write([put(entities, rows), put(headers, [header]), put(checkpoints, [head])]);
    await store.close();
  });

  describeService({
    name: "lending",
    entry: new URL("./fake-service.main.ts", import.meta.url),
    env: { ...env, DATA_DIR: filledDir },
    endpoints,
    status: {
      mode: "serving",
      chains: [
        {
          ...{ chainId: CHAIN_ID, name: `Chain ${CHAIN_ID}`, indexedBlock: 200, indexedBlockHash: "0x200" },
          ...{ indexedTime: now, fromBlock: 100, chainHead: 203, lagBlocks: 3, ...SERVED },
        },
      ],
      peers: UNREACHABLE,
    },
  });
});

describeWithProcesses("lending and its peer evm-dex", () => {
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
    const started = await startServiceProcess(entry, { ...env, EVM_DEX_GRPC: evmDex.address });
    service = started;
    const peerState = async () => {
      const ready = await fetch(`${started.httpUrl}/readyz`);
      expect(ready.status).to.equal(200);
      return (await bodyOf(ready)).peers["evm-dex"];
    };
    const metrics = async () => (await fetch(`${started.httpUrl}/metrics`)).text();
    await until(async () => (await peerState()) === "serving");
    expect(await metrics()).to.contain('peer_serving{peer="evm-dex",service="lending"} 1');
    await evmDex.stop({ timeoutMs: 100 });
    await until(async () => (await peerState()) !== "serving");
    expect(await metrics()).to.contain('peer_serving{peer="evm-dex",service="lending"} 0');
  });

  itThorough("sends evm-dex the service token, and warns where evm-dex rejects it", async () => {
    const tokens = ["the-token-of-evm-dex-0123456789abcdef", "a-wrong-token-0123456789abcdef0123"];
    const requested: number[] = [];
    const evmDex = await startGrpcServer({
      ...{ host: "127.0.0.1", port: 0, isAuthorized: createTokenCheck(tokens.slice(0, 1)) },
      services: {
        status: { getStatus: () => Promise.reject(new Error("not used")) },
        prices: {
          async getPrices({ chainId }) {
            requested.push(chainId);
            return { block: 200, blockTime: 1, prices: [] };
          },
        },
        health: async () => true,
      },
    });
    try {
      for (const token of [...tokens].reverse()) {
        const isWrong = token === tokens[1];
        const folder = join(tmpdir(), `chaintables-lending-${randomUUID()}`);
        dataDirs.push(folder);
        const started = await startServiceProcess(new URL("./filled-service.main.ts", import.meta.url), {
          ...{ ...env, EVM_DEX_GRPC: evmDex.address, DATA_DIR: folder, SERVICE_TOKEN: token },
        });
        service = started;
        const warning = () =>
          started.entries.find(
            ({ level, msg }) => level === "warn" && msg === "prices of evm-dex are not available",
          );
        await until(() => (isWrong ? warning() !== undefined : requested.length > 0));
        if (isWrong) expect(warning()?.reason).to.contain("refuses the SERVICE_TOKEN of this process");
        else expect(warning()).to.equal(undefined);
        expect(requested.length > 0).to.equal(!isWrong);
        for (const secret of tokens) expect(JSON.stringify(started.entries)).not.to.contain(secret);
        await started.stop();
      }
    } finally {
      await evmDex.stop({ timeoutMs: 100 });
    }
  });

  it("ends with the code of a wrong configuration and names the variable", async () => {
    const failure = await startServiceProcess(entry, { ...env, EVM_DEX_GRPC: "nowhere" }).catch(
      (error) => error,
    );
    expect(failure).to.be.instanceOf(Error);
    expect(failure.message).to.contain("ended with 78").and.contain("Cannot read EVM_DEX_GRPC");
  });

  it("ends at once where a file it needs is wrong, and says which", async () => {
    const failure = await startServiceProcess(entry, { ...env, CURATORS_FILE: "/nowhere.json" }).catch(
      (error) => error,
    );
    expect(failure.message).to.contain("Cannot read curators from /nowhere.json");
  });
});
