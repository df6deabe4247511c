import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { createLog } from "../logging/log.ts";
import type { Environment } from "../settings/settings.ts";
import { put, type Store } from "../storage/port.ts";
import { openSqliteStore } from "../storage/sqlite/store.ts";
import { type ChainReadings, openChainReadings } from "./chain-readings.ts";
import { ingestStatus } from "./status-row.ts";
import { statusRow } from "./testkit/status-row.ts";

const RPC = { EVM_RPC_8453: "http://127.0.0.1:1" };

describe("the error of a table without a block", () => {
  let store: Store;
  let readings: ChainReadings | undefined;
  beforeEach(async () => {
    store = await openSqliteStore({ path: ":memory:" });
    await store.declare([ingestStatus]);
  });
  afterEach(async () => {
    readings?.close();
    await store.close();
  });

  const refusalOf = async (chainId: number, env: Environment) => {
    readings = await openChainReadings({
      ...{ store, chainIds: [1, 8453], what: "The lending markets", env },
      log: createLog({ name: "test", level: "silent" }),
    });
    const { code, message } = readings.missingDataError(chainId, false);
    return { code, message };
  };

  it("is 503 where no ingest has reported and nothing says which chains there are", async () => {
    expect((await refusalOf(1, {})).code).to.equal("unavailable");
  });

  it("is 404 where the ingest reports that the chain has no source", async () => {
    await store.write([put(ingestStatus, [statusRow({ chainId: 1, state: "no_source" }), statusRow()])]);
    expect(await refusalOf(1, {})).to.deep.equal({
      code: "not_found",
      message: "Chain 1 is not configured on this instance (EVM_RPC_1). Configured: chain 8453.",
    });
    readings?.close();
    expect((await refusalOf(8453, {})).code).to.equal("unavailable");
  });

  it("is 404 where this process's environment has sources for other chains alone", async () => {
    expect((await refusalOf(1, RPC)).code).to.equal("not_found");
    readings?.close();
    expect((await refusalOf(8453, RPC)).code).to.equal("unavailable");
  });

  it("is 404 for a chain that the deployments do not have", async () => {
    expect(await refusalOf(10, RPC)).to.deep.include({ code: "not_found" });
  });
});
