import { expect } from "chai";
import { describe, it } from "mocha";
import { put, type Store } from "../../../shared/storage/port.ts";
import { HOUR, MINUTE, startOf } from "../../metrics/bucket.ts";
import { poolEvents, poolUsers, rollups } from "../../store/collections.ts";
import { address, CHAIN_ID, eventRow, openTestStore, poolRow } from "../../test/kit/rows.ts";
import { ANN, BOB, CID, DAN, EVE } from "../../test/kit/swap-model.ts";
import { BucketBook } from "../state/bucket-book.ts";
import type { HistoryChunk } from "./chunk.ts";
import { mergeBuckets } from "./merge-buckets.ts";

const T = 1_700_000_040;

/** Swaps as an index that begins with the first of them has them: block, seconds after T, user. */
async function storeOf(
  swaps: readonly (readonly [block: number, seconds: number, user: string])[],
): Promise<Store> {
  const store = await openTestStore();
  const book = new BucketBook(store, CHAIN_ID);
  const poolAddress = address(0x900);
  const events = swaps.map(([blockNumber, seconds, user]) => {
    const time = T + seconds;
    book.add({ poolAddress, user, time, valueUsd: 1, feeUsd: 1, tickTravel: 1, closePrice: 1 });
    return eventRow({ poolAddress, blockNumber, time, sender: user, kind: "swap", valueUsd: 1, feeUsd: 1 });
  });
  const taken = book.flush();
  await store.write([put(poolEvents, events), put(rollups, taken.rollups), put(poolUsers, taken.users)]);
  return store;
}

const KEPT = { rows: 0, minutes: 0, tvlHours: 0 };
const START = startOf(T, HOUR);
const chunk: HistoryChunk = {
  chainId: CHAIN_ID,
  from: { number: 1, time: START },
  start: START,
  to: 10,
  warmFrom: 1,
  detail: "events",
};

describe("mergeBuckets", () => {
  it("counts in the minute that both sides share who swapped last in it on either", async () => {
    const past = await storeOf([
      [5, 1, ANN],
      [6, 1, BOB],
      [7, 2, EVE],
    ]);
    const main = await storeOf([
      [11, 30, BOB],
      [12, 31, CID],
      [13, 90, DAN],
      [14, 100, EVE],
    ]);
    const at = { main, past, chunk, fromTime: T + 30, keptFrom: KEPT };
    const merged = await mergeBuckets(at, poolRow());
    const countsOf = (span: number) =>
      merged.rollups
        .filter((row) => row.span === span)
        .map(({ start, swapCount, lastSeenUsers }) => [start, swapCount, lastSeenUsers]);
    // Ann, Bob and Cid; Eve came back later.
    expect(countsOf(MINUTE)).to.deep.equal([[T, 5, 3]]);
    expect(countsOf(HOUR)).to.deep.equal([[startOf(T, HOUR), 7, 5]]);
    expect(merged.users.map(({ user }) => user)).to.deep.equal([ANN, BOB]);
    expect([...merged.returned]).to.deep.equal([
      [BOB, T],
      [EVE, T],
    ]);
    await Promise.all([main.close(), past.close()]);
  });

  it("leaves out old minutes but the last, from which closes are carried over, and no hour", async () => {
    const past = await storeOf([
      [5, 0, ANN],
      [6, 60, BOB],
      [7, 7_200, BOB],
      [8, 7_290, CID],
    ]);
    const main = await storeOf([]);
    const startsOf = async (span: number, minutes: number) => {
      const at = { main, past, chunk, fromTime: T + 86_400, keptFrom: { ...KEPT, minutes } };
      const { rollups: rows } = await mergeBuckets(at, poolRow());
      return rows.filter((row) => row.span === span).map(({ start }) => start - T);
    };
    expect(await startsOf(MINUTE, T)).to.deep.equal([0, 60, 7_200, 7_260]);
    expect(await startsOf(MINUTE, T + 61)).to.deep.equal([7_200, 7_260]);
    expect(await startsOf(MINUTE, T + 86_400)).to.deep.equal([7_260]);
    expect(await startsOf(HOUR, T + 86_400)).to.deep.equal(await startsOf(HOUR, T));
    await Promise.all([main.close(), past.close()]);
  });
});
