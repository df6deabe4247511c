import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { SERVED, unreported, withoutSource } from "../../shared/ingest-status/testkit/status-row.ts";
import { put, type Store } from "../../shared/storage/port.ts";
import { type CheckpointRow, checkpoints } from "../store/collections.ts";
import { openTestStore } from "../test/store.ts";
import { createStatus } from "./status.ts";

const NOW_S = 1_700_000_000;
const CHECKPOINT: CheckpointRow = {
  chainId: 0,
  slot: 500,
  blockhash: "hash",
  time: NOW_S - 10,
  fromSlot: 100,
  fromTime: NOW_S - 300,
  rowsFromSlot: 200,
  rowsFromTime: NOW_S - 200,
  headSlot: 503,
  finalizedSlot: 470,
  fromBlockhash: "first",
  trades: 3,
  otherSwaps: 5,
};

describe("status of the solana service", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  const statusWith = async (checkpoint?: Partial<CheckpointRow>) => {
    if (checkpoint !== undefined) await store.write([put(checkpoints, [{ ...CHECKPOINT, ...checkpoint }])]);
    return createStatus({ store, readings: unreported }, () => NOW_S * 1_000)();
  };
  const unknown = { indexedBlock: null, indexedBlockHash: null, indexedTime: null, fromBlock: null };
  const solana = { chainId: 0, name: "Solana" };

  it("is empty while no block is indexed; the head may be known already", async () => {
    expect(await statusWith()).to.deep.equal({
      mode: "empty",
      chains: [{ ...solana, ...unknown, chainHead: null, lagBlocks: null, ...withoutSource(0) }],
      peers: [],
    });
    expect(await statusWith({ slot: 99, blockhash: "" })).to.deep.equal({
      mode: "empty",
      chains: [{ ...solana, ...unknown, chainHead: 503, lagBlocks: null, ...withoutSource(0) }],
      peers: [],
    });
  });

  it("returns slot, time, coverage and lag", async () => {
    const indexed = { indexedBlock: 500, indexedBlockHash: "hash", indexedTime: NOW_S - 10, fromBlock: 100 };
    expect(await statusWith({})).to.deep.equal({
      mode: "serving",
      chains: [
        { ...solana, ...indexed, chainHead: 503, lagBlocks: 3, swapShare: 0.375, finalBlock: 470, ...SERVED },
      ],
      peers: [],
    });
    // Nothing final is beyond what is indexed, and none is known before the first final slot.
    expect((await statusWith({ finalizedSlot: 502 })).chains[0]?.finalBlock).to.equal(500);
    expect((await statusWith({ finalizedSlot: 99 })).chains[0]).not.to.have.property("finalBlock");
    expect((await statusWith({ headSlot: 490 })).chains[0]?.lagBlocks).to.equal(0);
  });

  it("is stale two minutes behind the clock", async () => {
    expect((await statusWith({ time: NOW_S - 120 })).mode).to.equal("serving");
    expect((await statusWith({ time: NOW_S - 121 })).mode).to.equal("stale");
  });
});
