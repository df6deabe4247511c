import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Store } from "../../shared/storage/port.ts";
import { getCheckpoint } from "../store/queries.ts";
import { FakeCluster } from "../test/fake-cluster.ts";
import { openTestStore } from "../test/store.ts";
import { openCheckpoint } from "./start-slot.ts";

const START = 1_700_000_000;

describe("openCheckpoint", () => {
  let store: Store;
  let cluster: FakeCluster;

  beforeEach(async () => {
    store = await openTestStore();
    cluster = new FakeCluster();
  });
  afterEach(() => store.close());

  const open = (startSlot?: number) =>
    openCheckpoint(store, { source: cluster.source, reader: cluster.reader, startSlot });

  it("returns a checkpoint before the first block at or after the requested slot, and stores it", async () => {
    cluster.produce({ blockTime: START, transactions: [] });
    const first = cluster.produce({ skipped: 6, blockTime: START + 9, transactions: [] });
    cluster.produce({ blockTime: START + 12, transactions: [] });
    cluster.finalize(0);
    const checkpoint = await open(102);
    expect(checkpoint).to.include({
      ...{ slot: first.slot - 1, blockhash: "", time: START + 9, fromSlot: first.slot, fromTime: START + 9 },
      ...{ rowsFromSlot: first.slot, rowsFromTime: START + 9, fromBlockhash: first.blockhash },
    });
    expect(await getCheckpoint(store)).to.deep.equal(checkpoint);
    expect(await open(0)).to.deep.equal(checkpoint);
  });

  it("begins where endpoints do, when they no longer have the requested slot", async () => {
    for (let i = 0; i < 30; i++) cluster.produce({ blockTime: START + i, transactions: [] });
    cluster.finalize(0);
    cluster.firstAvailable = 117;
    expect((await open(0)).fromSlot).to.equal(117);
  });

  it("begins with the first block of the last hour when no slot is requested, skipped slots or not", async () => {
    // Some 0.4 seconds a slot; a segment without blocks and one without times.
    for (let i = 0; i < 9_600; i++) {
      const time = START + Math.floor(i * 0.4);
      cluster.produce({
        skipped: i === 500 ? 40 : 0,
        blockTime: i > 550 && i < 560 ? null : time,
        transactions: [],
      });
    }
    cluster.finalize(32);
    const final = cluster.chain.filter(({ slot }) => slot <= cluster.finalSlot);
    const since = (final.at(-1)?.blockTime ?? 0) - 3_600;
    const expected = final.find(({ blockTime }) => (blockTime ?? 0) >= since);
    cluster.requested.length = 0;
    const { fromSlot, fromTime } = await open();
    expect(fromSlot).to.equal(expected?.slot);
    expect(fromTime).to.equal(expected?.blockTime);
    // Blocks are large: few are read.
    expect(cluster.requested.length).to.be.below(40);
  });

  it("waits for a final block, and for one with a time", async () => {
    cluster.produce({ blockTime: null, transactions: [] });
    await failsWith("no final block from slot 101 on", () => open(101));
    cluster.finalize(0);
    await failsWith("no final block with a time", () => open(0));
    cluster.produce({ blockTime: START, transactions: [] });
    cluster.finalize(0);
    expect(await open(0)).to.include({ fromSlot: 100, fromTime: START });
  });
});

async function failsWith(words: string, work: () => Promise<unknown>): Promise<void> {
  const error = await work().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(String(error)).to.contain(words);
}
