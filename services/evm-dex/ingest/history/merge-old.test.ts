import { expect } from "chai";
import { describe, it } from "mocha";
import { put } from "../../../shared/storage/port.ts";
import { openSqliteStore } from "../../../shared/storage/sqlite/store.ts";
import { DAY, HOUR, startOf } from "../../metrics/bucket.ts";
import { COLLECTIONS, checkpoints } from "../../store/collections.ts";
import { CHAIN_ID } from "../../test/kit/rows.ts";
import { startCheckpoint } from "../../test/kit/small-chain.ts";
import { isOldChunk } from "./merge-old.ts";

const MIDNIGHT = startOf(1_790_000_000, DAY);

/** A chunk whose last block is of a time, before an index that begins with another. */
async function isOld({ last, begin, keptFrom }: { last: number; begin: number; keptFrom: number }) {
  const past = await openSqliteStore({ path: ":memory:" });
  await past.declare(COLLECTIONS);
  await past.write([put(checkpoints, [{ ...startCheckpoint(), chainId: CHAIN_ID, blockTime: last }])]);
  const from = { number: 1, time: last - HOUR };
  const chunk = { chainId: CHAIN_ID, from, start: from.time, to: 9, warmFrom: 1 };
  try {
    const kept = { rows: keptFrom, minutes: 0, tvlHours: 0 };
    return await isOldChunk({ main: past, past, chunk, fromTime: begin, keptFrom: kept });
  } finally {
    await past.close();
  }
}

describe("an old chunk", () => {
  it("ends before the days whose rows are kept", async () => {
    const day = { last: MIDNIGHT - 2, begin: MIDNIGHT };
    expect(await isOld({ ...day, keptFrom: MIDNIGHT })).to.equal(true);
    expect(await isOld({ ...day, keptFrom: MIDNIGHT + 9 * DAY })).to.equal(true);
    expect(await isOld({ ...day, keptFrom: MIDNIGHT - DAY })).to.equal(false);
    expect(await isOld({ ...day, keptFrom: 0 }), "all are kept").to.equal(false);
  });

  it("shares no day with the index: rows of a day go together", async () => {
    const kept = { keptFrom: MIDNIGHT + 9 * DAY };
    expect(await isOld({ last: MIDNIGHT + HOUR - 2, begin: MIDNIGHT + HOUR, ...kept })).to.equal(false);
    // No block in the last hours of the day.
    expect(await isOld({ last: MIDNIGHT - 5 * HOUR, begin: MIDNIGHT + HOUR, ...kept })).to.equal(true);
  });
});
