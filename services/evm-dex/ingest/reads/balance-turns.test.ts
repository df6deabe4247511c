import { expect } from "chai";
import { describe, it } from "mocha";
import { EMPTY_V2_STATE } from "../../protocols/aerodrome-v2/state.ts";
import { aerodromeV2 } from "../../protocols/aerodrome-v2.ts";
import { EMPTY_STATE, writeState } from "../../protocols/v3/state.ts";
import { address, poolEntry, poolRow } from "../../test/kit/rows.ts";
import type { ObservedPools } from "../state/observed-pools.ts";
import type { PoolEntry } from "../state/pool-book.ts";
import { numberOf } from "../turns.ts";
import {
  BALANCE_ROUND_BLOCKS,
  balanceBlockAt,
  lastBalanceTurn,
  listUnread,
  TURNS_A_HEAD,
} from "./balance-turns.ts";

const HEAD = 50_000;

function entryOf(n: number, at: { lastBlock: number; balanceBlock: number }): PoolEntry {
  const entry = poolEntry({ row: poolRow({ poolAddress: address(n) }), state: EMPTY_STATE, ...at });
  return Object.assign(entry, { anchor: writeState(EMPTY_STATE) });
}
const entriesOf = (count: number, at: { lastBlock: number; balanceBlock: number }) =>
  Array.from({ length: count }, (_, n) => entryOf(0x1_0000 + n, at));

describe("lastBalanceTurn", () => {
  it("comes once a round for every pool, and pools share few blocks", () => {
    const blocks = new Set<number>();
    for (let n = 0; n < 1_000; n++) {
      const turn = lastBalanceTurn(address(n), HEAD);
      expect(turn).to.be.within(HEAD - BALANCE_ROUND_BLOCKS + 1, HEAD);
      blocks.add(turn);
    }
    expect(blocks.size).to.equal(18);
  });
});

describe("balanceBlockAt", () => {
  it("is the later of last event and turn; the event's where events hold the reserves", () => {
    const turn = lastBalanceTurn(address(7), HEAD);
    expect(balanceBlockAt(entryOf(7, { lastBlock: turn - 1, balanceBlock: -1 }), HEAD)).to.equal(turn);
    expect(balanceBlockAt(entryOf(7, { lastBlock: turn + 1, balanceBlock: -1 }), HEAD)).to.equal(turn + 1);
    const row = poolRow({ poolAddress: address(7), protocol: "aerodrome-v2" });
    const v2 = poolEntry({
      row,
      protocol: aerodromeV2,
      state: EMPTY_V2_STATE,
      lastBlock: 9,
      balanceBlock: 9,
    });
    expect(balanceBlockAt(v2, HEAD)).to.equal(9);
  });
});

describe("listUnread", () => {
  const inColumns = (entries: readonly PoolEntry[]): ObservedPools => ({
    count: entries.length,
    addressAt: (n) => entries[n]?.row.poolAddress as string,
    numberAt: (n) => numberOf(entries[n]?.row.poolAddress as string),
    lastBlockAt: (n) => entries[n]?.lastBlock as number,
    balanceBlockAt: (n) => entries[n]?.balanceBlock as number,
    holdsReserves: (n) => entries[n]?.protocol.tvlSource === "reserves",
  });
  const count = (entries: readonly PoolEntry[], head = HEAD) => listUnread(inColumns(entries), head).length;

  it("has pools that were left unread and turns, each no more than a head may have", () => {
    const old = { lastBlock: HEAD - 5_000, balanceBlock: HEAD - 5_000 };
    expect(count(entriesOf(1_000, old))).to.equal(TURNS_A_HEAD);
    expect(count(entriesOf(999, { ...old, balanceBlock: -1 }))).to.equal(999);
    expect(count(entriesOf(2_500, { ...old, balanceBlock: -1 }))).to.equal(1_000);
    expect(count([...entriesOf(2_500, { ...old, balanceBlock: -1 }), entryOf(5, old)])).to.equal(1_001);
    expect(count([...entriesOf(1_000, old), entryOf(5, { ...old, balanceBlock: -1 })])).to.equal(
      TURNS_A_HEAD + 1,
    );
  });

  it("begins with the unread pools of the newest blocks", () => {
    const entries = Array.from({ length: 2_500 }, (_, n) =>
      entryOf(0x1_0000 + n, { lastBlock: HEAD - 10_000 + 7 * ((n * 977) % 2_500), balanceBlock: -1 }),
    );
    const unread = new Set(listUnread(inColumns(entries), HEAD));
    const [read, left] = [true, false].map((is) =>
      entries.filter(({ row }) => unread.has(row.poolAddress) === is).map(({ lastBlock }) => lastBlock),
    ) as [number[], number[]];
    expect([read.length, left.length]).to.deep.equal([1_000, 1_500]);
    expect(Math.min(...read)).to.be.greaterThan(Math.max(...left));
  });

  it("is through with all pools after as many heads as that takes, and then has none until the next turn", () => {
    const entries = entriesOf(1_000, { lastBlock: 1, balanceBlock: 1 });
    const turns: number[] = [];
    for (let head = HEAD; head < HEAD + 6; head++) {
      const due = new Set(listUnread(inColumns(entries), head));
      turns.push(due.size);
      for (const entry of entries)
        if (due.has(entry.row.poolAddress)) entry.balanceBlock = balanceBlockAt(entry, head);
    }
    expect(turns).to.deep.equal([200, 200, 200, 200, 200, 0]);
  });

  it("has no pool without an event", () => {
    const entry = entryOf(3, { lastBlock: -1, balanceBlock: -1 });
    expect(count([Object.assign(entry, { anchor: undefined })])).to.equal(0);
  });
});
