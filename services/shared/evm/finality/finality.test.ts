import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Store } from "../../storage/port.ts";
import { openSqliteStore } from "../../storage/sqlite/store.ts";
import type { EvmSource, FinalBlock, StoredBlock } from "../port.ts";
import { fakeHash } from "../testkit/fake-chain.ts";
import { Finality, finalBlocks } from "./finality.ts";

const block = (number: number): StoredBlock => ({ number, hash: fakeHash(number), time: 1_000 + number });

describe("Finality", () => {
  let store: Store;
  let requested: StoredBlock[];
  let required: FinalBlock[];
  /** Answers the pending request. */
  let answer: (final: StoredBlock | null) => void;

  const source = {
    chainId: 8453,
    requireFinal: (final: FinalBlock) => required.push(final),
    finalBlock(tip: StoredBlock) {
      requested.push(tip);
      return new Promise<StoredBlock | null>((resolve) => {
        answer = resolve;
      });
    },
  } as unknown as EvmSource;
  const open = () =>
    Finality.open(
      { store, source, guard: () => [] },
      { genesisHash: fakeHash(0), findKnown: async () => undefined },
    );
  const stored = async () => (await store.get(finalBlocks, { chainId: 8453 }))?.number;

  beforeEach(async () => {
    [requested, required] = [[], []];
    store = await openSqliteStore({ path: ":memory:" });
    await store.declare([finalBlocks]);
  });
  afterEach(() => store.close());

  it("begins with block 0, and moves up with the index every 32 blocks at the head", async () => {
    const finality = await open();
    expect(required).to.deep.equal([{ number: 0, hash: fakeHash(0), time: 0, genesisHash: fakeHash(0) }]);
    finality.follow(block(20), { isHead: true });
    expect(requested).to.deep.equal([]);
    finality.follow(block(100), { isHead: true });
    answer(block(36));
    await finality.settled();
    expect(requested).to.deep.equal([block(100)]);
    expect(await stored()).to.equal(36);
    expect(required.at(-1)?.number).to.equal(36);
    finality.follow(block(110), { isHead: true });
    expect(requested).to.have.length(1);
  });

  it("never moves down, and stays where endpoints do not agree", async () => {
    const finality = await open();
    for (const [tip, final] of [
      [100, block(60)],
      [200, block(50)],
      [300, null],
    ] as const) {
      finality.follow(block(tip), { isHead: true });
      answer(final);
      await finality.settled();
      expect(await stored()).to.equal(60);
    }
    expect((await open()).block).to.deep.equal({ ...block(60), genesisHash: fakeHash(0) });
  });

  it("ignores responses to requests from before a rollback", async () => {
    const finality = await open();
    finality.follow(block(100), { isHead: true });
    await finality.cancelUpdate();
    answer(block(90));
    await finality.settled();
    expect(await stored()).to.equal(undefined);
    expect(finality.block.number).to.equal(0);
  });
});
