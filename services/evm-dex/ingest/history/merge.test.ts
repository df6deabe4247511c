import { expect } from "chai";
import { describe, it } from "mocha";
import { put } from "../../../shared/storage/port.ts";
import { poolEvents } from "../../store/collections.ts";
import { CHAIN_ID, eventRow, openTestStore } from "../../test/kit/rows.ts";
import type { HistoryChunk } from "./chunk.ts";
import { mergeEvents } from "./merge.ts";

const chunk: HistoryChunk = {
  chainId: CHAIN_ID,
  from: { number: 3, time: 6 },
  start: 6,
  to: 8,
  warmFrom: 1,
  detail: "events",
};

describe("mergeEvents", () => {
  it("puts every event of the chunk once, the newest first, each write in the order of the key", async () => {
    const past = await openTestStore();
    const blocks = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const rows = blocks.flatMap((blockNumber) =>
      [0, 1, 2].map((logIndex) => eventRow({ blockNumber, logIndex, time: 2 * blockNumber })),
    );
    await past.write([put(poolEvents, rows)]);
    const writes: string[][] = [];
    for await (const step of mergeEvents({ past, chunk }, 4)) {
      if (step.kind !== "put") throw new Error(`A step is to put rows, not to ${step.kind}.`);
      writes.push([...step.rows].map(({ blockNumber, logIndex }) => `${blockNumber}:${logIndex}`));
      // Six blocks of three events.
      expect(writes.length).to.be.at.most(18);
    }
    expect(writes[0]).to.deep.equal(["7:2", "8:0", "8:1", "8:2"]);
    const wanted = [3, 4, 5, 6, 7, 8].flatMap((block) => [0, 1, 2].map((index) => `${block}:${index}`));
    expect(writes.reverse().flat()).to.deep.equal(wanted);
    await past.close();
  });
});
