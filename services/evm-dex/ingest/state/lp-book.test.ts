import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { put, type Store } from "../../../shared/storage/port.ts";
import { EMPTY_POSITION, type LpPosition, positionText } from "../../metrics/lp-position.ts";
import { lpPositions } from "../../store/v2-collections.ts";
import { address, CHAIN_ID, hash, openTestStore } from "../../test/kit/rows.ts";
import { LpBook } from "./lp-book.ts";

const [POOL, OTHER, ANN, BOB] = [address(0x900), address(0x901), address(0xa), address(0xb)];
const HELD: LpPosition = { ...EMPTY_POSITION, balance: 70n, staked: 30n, index0: 9n };
const place = (blockNumber: number, logIndex = 0) => ({
  blockNumber,
  logIndex,
  blockHash: hash(blockNumber),
  time: 1_000 + blockNumber,
});
const adding = (wallet: string, balance: bigint) => ({
  wallet,
  after: (position: LpPosition) => ({ ...position, balance: position.balance + balance }),
});

describe("LpBook", () => {
  let store: Store;
  let book: LpBook;
  beforeEach(async () => {
    store = await openTestStore();
    book = new LpBook(store, CHAIN_ID);
  });
  afterEach(() => store.close());

  it("writes a row for each event with the position after it, and the last one as the position", () => {
    book.add(POOL, adding(ANN, 5n), place(100, 3));
    book.add(POOL, adding(BOB, 7n), place(100, 3));
    book.add(POOL, adding(ANN, -2n), place(140, 1));
    const { events, positions } = book.flush();
    const row = (wallet: string, at: ReturnType<typeof place>, balance: bigint) => ({
      chainId: CHAIN_ID,
      wallet,
      poolAddress: POOL,
      ...at,
      position: positionText.write({ ...EMPTY_POSITION, balance }),
    });
    expect(events).to.deep.equal([
      row(ANN, place(100, 3), 5n),
      row(BOB, place(100, 3), 7n),
      row(ANN, place(140, 1), 3n),
    ]);
    const anchor = positionText.write(EMPTY_POSITION);
    const common = { chainId: CHAIN_ID, poolAddress: POOL, anchor, firstTime: 1_100 };
    expect(positions).to.have.deep.members([
      { ...common, wallet: ANN, position: events[2]?.position, lastTime: 1_140, lastBlock: 140 },
      { ...common, wallet: BOB, position: events[1]?.position, lastTime: 1_100, lastBlock: 100 },
    ]);
    expect(book.flush()).to.deep.equal({ events: [], positions: [] });
  });

  it("continues from stored rows, and returns those that are missing", async () => {
    const stored = {
      chainId: CHAIN_ID,
      wallet: ANN,
      poolAddress: POOL,
      position: positionText.write(HELD),
      anchor: positionText.write(EMPTY_POSITION),
      firstTime: 5,
      lastTime: 6,
      lastBlock: 7,
    };
    await store.write([put(lpPositions, [stored])]);
    const wanted = [
      { poolAddress: POOL, wallet: ANN },
      { poolAddress: OTHER, wallet: ANN },
    ];
    expect(await book.prepare(wanted)).to.deep.equal([wanted[1]]);
    book.add(POOL, adding(ANN, 1n), place(100));
    expect(book.flush().positions).to.deep.equal([
      { ...stored, position: positionText.write({ ...HELD, balance: 71n }), lastTime: 1_100, lastBlock: 100 },
    ]);
    // What it has, it does not look up again.
    expect(await book.prepare([wanted[0] as (typeof wanted)[number]])).to.deep.equal([]);
  });

  it("starts a position that is older than the index from its anchor", () => {
    book.anchor({ poolAddress: POOL, wallet: ANN }, HELD);
    expect(book.flush().positions, "an anchor alone is no position").to.deep.equal([]);
    book.add(POOL, adding(ANN, -70n), place(100));
    const [row] = book.flush().positions;
    expect(row?.anchor).to.equal(positionText.write(HELD));
    expect(row?.position).to.equal(positionText.write({ ...HELD, balance: 0n }));
    expect(row).to.include({ firstTime: 1_100, lastTime: 1_100, lastBlock: 100 });
  });
});
