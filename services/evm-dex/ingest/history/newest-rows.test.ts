import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { put, removeWhere } from "../../../shared/storage/port.ts";
import { poolEvents } from "../../store/collections.ts";
import { CHAIN_ID, eventRow, openTestStore } from "../../test/kit/rows.ts";
import type { HistoryChunk } from "./chunk.ts";
import { newestRows } from "./newest-rows.ts";

const chunk: HistoryChunk = {
  chainId: CHAIN_ID,
  from: { number: 3, time: 6 },
  start: 6,
  to: 8,
  warmFrom: 1,
  detail: "events",
};

describe("newestRows", () => {
  it("gives every row of the chunk once, newest first, however many a block has", async () => {
    const blocks = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 10, maxLength: 10 });
    const store = await openTestStore();
    await fc.assert(
      fc.asyncProperty(blocks, fc.integer({ min: 1, max: 6 }), async (counts, pageSize) => {
        const rows = counts.flatMap((count, block) =>
          Array.from({ length: count }, (_, logIndex) =>
            eventRow({ blockNumber: block + 1, logIndex, time: 2 * (block + 1) }),
          ),
        );
        await store.write([removeWhere(poolEvents, {}), put(poolEvents, rows)]);
        const found: string[] = [];
        for await (const page of newestRows(store, { collection: poolEvents, chunk, pageSize })) {
          expect(page.length).to.be.within(1, pageSize);
          found.push(...page.map(({ blockNumber, logIndex }) => `${blockNumber}:${logIndex}`));
          // Whatever is done with a page, the next one follows on it.
          (page as unknown[]).reverse();
        }
        const wanted = rows.filter(({ blockNumber }) => blockNumber >= 3 && blockNumber <= 8);
        expect(found).to.deep.equal(
          wanted.reverse().map(({ blockNumber, logIndex }) => `${blockNumber}:${logIndex}`),
        );
      }),
      { numRuns: 100 },
    );
    await store.close();
  });
});
