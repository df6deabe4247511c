import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { AsOf } from "../../../shared/contract/as-of.ts";
import { headers } from "../../../shared/index/evm/headers.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { type CheckpointRow, type EntityHistoryRow, entityHistory } from "../../store/collections.ts";
import { toForkMark } from "../../store/fork-mark.ts";
import { toStateText } from "../../store/state-text.ts";
import { CHAIN_ID, openTestStore } from "../../test/stored.ts";
import { findHourEnd } from "./hour-end.ts";

const HOUR = 3_600;
/** A whole hour. */
const T = 1_700_002_800;
/** A block every ten minutes: 100 begins the first hour, 106 the second. */
const timeOf = (block: number) => T + (block - 100) * 600;
const hourOf = (block: number) => timeOf(block) - (timeOf(block) % HOUR);
const row = (id: string, block: number): EntityHistoryRow => ({
  ...{ chainId: CHAIN_ID, kind: "vault", id, hour: hourOf(block) },
  ...{ block, blockHash: `0x${block}`, time: timeOf(block), state: toStateText(block) },
});

describe("the ends of hours that lending can tell", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  const ask = async (asOf: AsOf, head = 125) => {
    const checkpoint = {
      ...{ chainId: CHAIN_ID, blockNumber: head, blockTime: timeOf(head), blockHash: `0x${head}` },
      ...{ fromBlock: 101, fromTime: timeOf(101) },
    } as CheckpointRow;
    return findHourEnd(store, { checkpoint, asOf }).then(
      ({ block }) => block,
      (error: Error) => error.message,
    );
  };

  it("are the last changes of each hour, until the next hour with changes", async () => {
    // Hours of blocks 100 to 105, 106 to 111, none of 112 to 117, and the open one from 118 on.
    await store.write([
      put(entityHistory, [
        row("a", 102),
        row("b", 104),
        row("a", 107),
        row("c", 109),
        row("b", 119),
        row("a", 121),
      ]),
    ]);
    expect(await ask({ at_block: 104 })).to.equal(104);
    expect(await ask({ at_time: timeOf(106) - 1 }), "the last second of its hour").to.equal(104);
    expect(await ask({ at_time: timeOf(105) }), "after it, in its hour").to.equal(104);
    expect(await ask({ at_block: 109 })).to.equal(109);
    expect(await ask({ at_time: timeOf(115) }), "an hour without changes").to.equal(109);
    expect(await ask({ at_block: 121 })).to.equal(121);
    expect(await ask({ at_block: 125 }), "nothing has changed since").to.equal(121);
    const within = (value: number, nearest: string) =>
      `Cannot answer at_block: ${value} lies within an hour, of which only the last states are stored; ${nearest}.`;
    expect(await ask({ at_block: 102 })).to.equal(
      within(102, "").replace("; .", ", and no block before it can be told."),
    );
    const nearest = `the last block before it that can be told is block 104 (${timeOf(104)}, 2023-11-14T23:40:00+00:00)`;
    expect(await ask({ at_block: 107 })).to.equal(within(107, nearest));
    expect(await ask({ at_block: 105 }), "of which nothing says the time").to.equal(within(105, nearest));
    expect(await ask({ at_time: timeOf(106) + 5 }), "a state may have been replaced").to.contain(
      "block 104 (",
    );
    expect(await ask({ at_block: 119 })).to.contain("block 109 (");
  });

  it("reach to a block whose header says that it lies in their hour", async () => {
    await store.write([
      put(entityHistory, [row("a", 104), row("a", 107)]),
      put(headers, [
        { chainId: CHAIN_ID, number: 105, hash: "0x105", parentHash: "0x104", time: timeOf(105) },
      ]),
    ]);
    expect(await ask({ at_block: 105 })).to.equal(104);
  });

  it("are not those that a fork took states from", async () => {
    // a changed in 103 and again in 105, which a fork took away; it was read again in the next hour.
    const at = { chainId: CHAIN_ID, block: 107, blockHash: "0x107", time: timeOf(107), hour: hourOf(107) };
    const rows = [row("a", 97), row("b", 103), row("a", 107), toForkMark(at, { above: 104 })];
    await store.write([put(entityHistory, rows)]);
    expect(await ask({ at_block: 103 })).to.contain(
      "the last block before it that can be told is block 97 (",
    );
    expect(await ask({ at_time: timeOf(105) })).to.contain("block 97 (");
    expect(await ask({ at_block: 107 })).to.equal(107);
    await store.write([put(entityHistory, [row("b", 113)])]);
    expect(await ask({ at_time: timeOf(111) }), "later hours are whole").to.equal(107);
  });

  it("lie within the index", async () => {
    await store.write([put(entityHistory, [row("a", 104)])]);
    expect(await ask({ at_block: 126 })).to.contain("126 is above the indexed head, block 125 (");
    expect(await ask({ at_time: timeOf(125) + 1 })).to.contain("is above the indexed head, block 125 (");
    expect(await ask({ at_block: 103 })).to.contain("103 is below the first indexed block, block 101 (");
  });
});
