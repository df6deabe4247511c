import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { ServiceError } from "../../../shared/errors.ts";
import { hasData } from "../../../shared/index/evm/checkpoint.ts";
import { HeadWatcher } from "../../../shared/service/head-watcher.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { storeWith } from "../../../shared/storage/within.ts";
import { until } from "../../../shared/testkit/fixture.ts";
import { endpoints, rates } from "../../contract.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { getCheckpoint } from "../../store/queries.ts";
import { CURATORS } from "../../test/answers.ts";
import { vaultRow } from "../../test/fake-protocol.ts";
import { CHAIN_ID, fakeChain, openTestStore, timeOf, writeBlock } from "../../test/stored.ts";
import { protocolOf } from "../serving.ts";
import { LendingTables } from "./lending-tables.ts";

const QUERY = { chainId: CHAIN_ID, protocol: "morpho-v1" } as const;

describe("LendingTables", () => {
  let store: Store;
  let isDown: boolean;
  let failures: number;
  let heads: HeadWatcher<CheckpointRow>;
  let tables: LendingTables;
  beforeEach(async () => {
    store = await openTestStore();
    [isDown, failures] = [false, 0];
  });
  afterEach(async () => {
    heads.close();
    await tables.close();
    await store.close();
  });

  const start = (): void => {
    const down = () => Promise.reject(new Error("down"));
    const moody = storeWith(store, {
      find: (from, query) => (isDown ? down() : store.find(from, query)),
    });
    heads = new HeadWatcher({
      ...{ read: (chainId: number) => getCheckpoint(store, chainId), hasData },
      ...{ chainIds: [1, CHAIN_ID], pollMs: 5 },
    });
    tables = new LendingTables({
      ...{ store: moody, heads, curators: CURATORS, staleSeconds: 600 },
      chains: [fakeChain(["morpho-v1"]), fakeChain([], { chainId: 1 })],
      prices: {
        getPrices: async ({ block = 0 }) => ({ block, blockTime: timeOf(block), prices: [] }),
      },
      events: {
        ...{ built: () => {}, rowSkipped: () => {}, pricesChanged: () => {} },
        failed: () => void failures++,
      },
    });
  };
  const writeVault = (block: number, supply: number) =>
    writeBlock(store, { block, units: { one: [vaultRow({ supply })] } });
  const blockOf = async () => (await tables.headState(QUERY))?.version.block;

  it("has nothing while nothing is indexed, and then every head", async () => {
    start();
    expect(await tables.headState(QUERY)).to.equal(undefined);
    expect(await tables.headState({ ...QUERY, chainId: 10 }), "a chain it does not know").to.equal(undefined);
    expect(tables.isStarting).to.equal(false);
    await writeVault(200, 1);
    await until(async () => (await blockOf()) === 200);
    await writeVault(201, 2);
    await until(async () => (await blockOf()) === 201);
    expect((await tables.headState(QUERY))?.tables?.vaults.cell("supply", 0)).to.equal(2);
  });

  it("waits for the first read of the store just after the start", async () => {
    await writeVault(200, 1);
    start();
    expect(tables.isStarting).to.equal(true);
    expect(tables.current(QUERY), "nothing is read yet").to.equal(undefined);
    expect(await blockOf()).to.equal(200);
    expect(tables.current(QUERY)?.version.block).to.equal(200);
    await until(() => !tables.isStarting);
  });

  it("returns the block, and no rows, for a protocol that is not deployed on the chain", async () => {
    await writeVault(200, 1);
    start();
    await until(async () => (await blockOf()) === 200);
    const found = await tables.headState({ ...QUERY, protocol: "aave-v3" });
    expect(found?.tables).to.equal(undefined);
    expect(found?.version.block).to.equal(200);
  });

  it("is unavailable where what is stored cannot be read, and back with the store", async () => {
    await writeVault(200, 1);
    isDown = true;
    start();
    const error = await tables.headState(QUERY).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(ServiceError).and.include({ code: "unavailable", retryAfterSeconds: 1 });
    isDown = false;
    await until(async () => (await blockOf().catch(() => undefined)) === 200);
  });

  it("goes on answering from its tables while the store is away", async () => {
    await writeVault(200, 1);
    start();
    expect(await blockOf()).to.equal(200);
    isDown = true;
    await writeVault(201, 2);
    await until(() => failures > 0);
    expect(await blockOf()).to.equal(200);
    isDown = false;
    await until(async () => (await blockOf()) === 201);
  });
});

describe("protocolOf", () => {
  it("knows the protocol behind every path", () => {
    const ofOne = endpoints.filter(({ path }) => path !== rates.path);
    const protocols = ofOne.map((endpoint) => `${endpoint.path.split("/")[3]} ${protocolOf(endpoint)}`);
    expect(new Set(protocols)).to.deep.equal(
      new Set(["lendinga aave-v3", "lendingb euler-v2", "lendingc morpho-v1"]),
    );
    expect(protocolOf(rates as never), "of any").to.equal(undefined);
  });
});
