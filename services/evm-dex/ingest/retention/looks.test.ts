import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { finalBlocks } from "../../../shared/evm/finality/finality.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { openSqliteStore } from "../../../shared/storage/sqlite/store.ts";
import { countLoopTurns } from "../../../shared/testkit/loop-turns.ts";
import { DAY, HOUR } from "../../metrics/bucket.ts";
import { COLLECTIONS, poolEvents } from "../../store/collections.ts";
import { CHAIN_ID, checkpointRow, eventRow } from "../../test/kit/rows.ts";
import { Retention } from "./retention.ts";

const LOOKED_AT = 19_000 * DAY;

describe("Retention looks for work", () => {
  const at = (seconds: number, isFollowing: boolean) => ({
    checkpoint: checkpointRow({ blockTime: LOOKED_AT + seconds }),
    events: 0,
    isFollowing,
  });

  let store: Store;
  afterEach(() => store.close());

  /** After a look that found nothing. */
  async function openLooked(rawDays: number): Promise<Retention> {
    store = await openSqliteStore({ path: ":memory:" });
    await store.declare(COLLECTIONS);
    const retention = new Retention({ store, guard: () => [], chainId: CHAIN_ID, rawDays });
    await retention.afterBatch(at(0, false));
    return retention;
  }

  it("every ten minutes of the chain at its head, every six hours of it far behind", async () => {
    const retention = await openLooked(8);
    const isDue = (seconds: number, isFollowing: boolean) => retention.isDue(at(seconds, isFollowing));
    expect([isDue(599, true), isDue(600, true)]).to.deep.equal([false, true]);
    expect([isDue(6 * HOUR - 1, false), isDue(6 * HOUR, false)]).to.deep.equal([false, true]);
  });

  it("and lets the event loop turn between its steps, however quick the store is", async () => {
    const retention = await openLooked(1);
    const days = Array.from({ length: 30 }, (_, day) =>
      eventRow({ blockNumber: day + 1, time: LOOKED_AT + day * DAY }),
    );
    const end = { number: 31, hash: "0x1f", time: LOOKED_AT + 30 * DAY };
    await store.write([put(poolEvents, days), put(finalBlocks, [{ chainId: CHAIN_ID, ...end }])]);
    const loop = countLoopTurns();
    await retention.afterBatch({
      checkpoint: checkpointRow({ blockNumber: end.number, blockTime: end.time, fromTime: LOOKED_AT }),
      events: 10_000,
      isFollowing: false,
    });
    loop.stop();
    expect(await store.count(poolEvents, {})).to.be.lessThan(5);
    expect(loop.turns()).to.be.greaterThan(10);
  });

  it("never where all rows are kept", async () => {
    expect((await openLooked(0)).isDue(at(DAY, true))).to.equal(false);
  });
});
