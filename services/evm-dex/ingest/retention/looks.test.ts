import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import type { Store } from "../../../shared/storage/port.ts";
import { openSqliteStore } from "../../../shared/storage/sqlite/store.ts";
import { DAY, HOUR } from "../../metrics/bucket.ts";
import { COLLECTIONS } from "../../store/collections.ts";
import { CHAIN_ID, checkpointRow } from "../../test/kit/rows.ts";
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

  it("never where all rows are kept", async () => {
    expect((await openLooked(0)).isDue(at(DAY, true))).to.equal(false);
  });
});
