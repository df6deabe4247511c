import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { finalBlocks } from "../../shared/evm/finality/finality.ts";
import { SERVED, unreported, withoutSource } from "../../shared/ingest-status/testkit/status-row.ts";
import { put, type Store } from "../../shared/storage/port.ts";
import { loadDeployments } from "../deployments.ts";
import { type CheckpointRow, checkpoints } from "../store/collections.ts";
import { checkpointRow, hash, openTestStore } from "../test/kit/rows.ts";
import { createStatus } from "./status.ts";

const NOW_S = 1_700_000_000;

describe("createStatus", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  const statusWith = async (...rows: readonly Partial<CheckpointRow>[]) => {
    await store.write([put(checkpoints, rows.map(checkpointRow))]);
    return createStatus(
      { store, chains: loadDeployments(undefined), readings: unreported },
      () => NOW_S * 1_000,
    )();
  };
  const NOTHING = {
    indexedBlock: null,
    indexedBlockHash: null,
    indexedTime: null,
    fromBlock: null,
    lagBlocks: null,
  };

  it("is empty while no chain has a block; the head may be known already", async () => {
    expect(await statusWith()).to.deep.equal({
      mode: "empty",
      chains: [
        { chainId: 1, name: "Ethereum", ...NOTHING, chainHead: null, ...withoutSource(1) },
        { chainId: 8453, name: "Base", ...NOTHING, chainHead: null, ...withoutSource(8453) },
      ],
      peers: [],
    });
    const { mode, chains } = await statusWith({ fromBlock: 100, blockNumber: 99, chainHead: 5_000 });
    expect(mode).to.equal("empty");
    expect(chains[1]).to.deep.equal({
      ...{ chainId: 8453, name: "Base", ...NOTHING, chainHead: 5_000 },
      ...withoutSource(8453),
    });
  });

  it("reports block, time, coverage and lag of an indexed chain", async () => {
    const { mode, chains, peers } = await statusWith({
      blockNumber: 200,
      blockHash: hash(200),
      blockTime: NOW_S - 10,
      fromBlock: 100,
      chainHead: 207,
    });
    expect([mode, peers]).to.deep.equal(["serving", []]);
    expect(chains).to.deep.equal([
      { chainId: 1, name: "Ethereum", ...NOTHING, chainHead: null, ...withoutSource(1) },
      {
        chainId: 8453,
        name: "Base",
        indexedBlock: 200,
        indexedBlockHash: hash(200),
        indexedTime: NOW_S - 10,
        fromBlock: 100,
        chainHead: 207,
        lagBlocks: 7,
        ...SERVED,
      },
    ]);
  });

  it("names the last final block once the ingest knows one", async () => {
    await store.write([
      put(finalBlocks, [{ chainId: 8453, number: 168, hash: hash(168), time: NOW_S - 80 }]),
    ]);
    const { chains } = await statusWith({ blockNumber: 200 });
    expect(chains[1]).to.include({ indexedBlock: 200, finalBlock: 168 });
    expect(chains[0]).not.to.have.property("finalBlock");
  });

  it("has no negative lag, when the chain became shorter", async () => {
    const { chains } = await statusWith({ blockNumber: 200, chainHead: 190 });
    expect(chains[1]).to.include({ chainHead: 190, lagBlocks: 0 });
  });

  it("is stale once every indexed chain is five minutes behind the clock", async () => {
    const modeWith = async (...times: readonly (readonly [number, number])[]) =>
      (await statusWith(...times.map(([chainId, age]) => ({ chainId, blockTime: NOW_S - age })))).mode;
    expect(await modeWith([8453, 300])).to.equal("serving");
    expect(await modeWith([8453, 301])).to.equal("stale");
    expect(await modeWith([8453, 301], [1, 12])).to.equal("serving");
    expect(await modeWith([8453, 301], [1, 9_999])).to.equal("stale");
    expect(await modeWith([8453, -60], [1, 9_999])).to.equal("serving");
  });
});
