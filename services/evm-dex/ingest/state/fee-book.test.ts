import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { put, removeWhere } from "../../../shared/storage/port.ts";
import { randomRuns } from "../../../shared/testkit/describe.ts";
import { poolFees } from "../../store/collections.ts";
import { FEES_A_HEAD } from "../../store/pool-lists.ts";
import { createFakeSource } from "../../test/kit/fake-source.ts";
import { address, CHAIN_ID, openTestStore, poolRow, word } from "../../test/kit/rows.ts";
import { FEE_REFRESH_BLOCKS, FeeBook, lastRefreshBlock } from "./fee-book.ts";
import { PoolBook } from "./pool-book.ts";

const START = 10_000;
/** Of any phase. */
const POOLS = [0, 7, 900, 1_799].map((phase) => address(0x10_0000 * FEE_REFRESH_BLOCKS + phase));
/** A fee that encodes pool and block. */
const feeAt = (pool: string, block: number) => (Number.parseInt(pool.slice(-8), 16) % 97) * 100_000 + block;

async function bookOf(pools: readonly string[], kind = "slipstream"): Promise<PoolBook> {
  const store = await openTestStore();
  const book = new PoolBook(store, CHAIN_ID);
  for (const poolAddress of pools) book.add(poolRow({ poolAddress, protocol: kind, family: "dexa" }));
  return book;
}

function setLastBlock(pools: PoolBook, pool: string, block: number): void {
  const entry = pools.get(pool);
  if (entry === undefined) throw new Error(`No pool ${pool}.`);
  entry.lastBlock = block;
}

describe("turnOf", () => {
  it("is within an hour of any head, the same of all heads up to the next", () => {
    for (const pool of POOLS) {
      for (const head of [START, START + 1, START + 899, START + 1_799, START + 1_800]) {
        const turn = lastRefreshBlock(pool, head);
        expect(turn).to.be.within(head - FEE_REFRESH_BLOCKS + 1, head);
        expect(lastRefreshBlock(pool, turn)).to.equal(turn);
        expect(lastRefreshBlock(pool, turn + FEE_REFRESH_BLOCKS - 1)).to.equal(turn);
        expect(lastRefreshBlock(pool, turn + FEE_REFRESH_BLOCKS)).to.equal(turn + FEE_REFRESH_BLOCKS);
      }
    }
  });
});

describe("FeeBook", () => {
  const source = () =>
    createFakeSource({
      call: ({ to, data, block }) => (data === "0xddca3f43" ? word(feeAt(to, block)) : null),
    });

  it("reads a fee at the pool's last event, again at its turn, and not between", async () => {
    const [pool = ""] = POOLS;
    const pools = await bookOf([pool]);
    const chain = source();
    const book = new FeeBook(CHAIN_ID);
    const last = START + 200;
    setLastBlock(pools, pool, last);
    const read = async (head: number) => book.refresh(chain, { pools, head, fromBlock: START });
    expect(await read(last + 3)).to.deep.equal([
      { chainId: CHAIN_ID, poolAddress: pool, fee: feeAt(pool, last), block: last },
    ]);
    const turn = lastRefreshBlock(pool, last) + FEE_REFRESH_BLOCKS;
    expect(await read(turn - 1)).to.deep.equal([]);
    expect(await read(turn + 5)).to.deep.equal([
      { chainId: CHAIN_ID, poolAddress: pool, fee: feeAt(pool, turn), block: turn },
    ]);
    setLastBlock(pools, pool, turn + 6);
    expect((await read(turn + 6)).map(({ block }) => block)).to.deep.equal([turn + 6]);
    expect(chain.calls.flat().map(({ block }) => block)).to.deep.equal([last, turn, turn + 6]);
  });

  it("reads no pool whose fee is fixed, and none at blocks before the index", async () => {
    const chain = source();
    const fixed = await bookOf(POOLS, "uniswap-v3");
    const at = { head: START + 5, fromBlock: START };
    expect(await new FeeBook(CHAIN_ID).refresh(chain, { ...at, pools: fixed })).to.deep.equal([]);
    expect(chain.calls).to.deep.equal([]);
    const untouched = await bookOf(POOLS);
    const rows = await new FeeBook(CHAIN_ID).refresh(chain, { ...at, pools: untouched });
    for (const { poolAddress, block } of rows)
      expect(block).to.equal(Math.max(START - 1, lastRefreshBlock(poolAddress, START + 5)));
    expect(rows).to.have.length(POOLS.length);
  });

  it("reads as many as a head may have, of the newest blocks first, until all are read", async () => {
    const names = Array.from({ length: 2_300 }, (_, n) => address(0x10_0000 + n));
    const pools = await bookOf(names);
    const book = new FeeBook(CHAIN_ID);
    const chain = source();
    const head = START + 2 * FEE_REFRESH_BLOCKS;
    const read = async () => book.refresh(chain, { pools, head, fromBlock: START });
    const rounds = [await read(), await read(), await read(), await read()];
    expect(rounds.map(({ length }) => length)).to.deep.equal([FEES_A_HEAD, FEES_A_HEAD, 300, 0]);
    const rowOf = new Map(rounds.flat().map((row) => [row.poolAddress, row]));
    for (const poolAddress of names) {
      const block = lastRefreshBlock(poolAddress, head);
      const row = { chainId: CHAIN_ID, poolAddress, fee: feeAt(poolAddress, block), block };
      expect(rowOf.get(poolAddress)).to.deep.equal(row);
    }
    const [first = [], second = [], third = []] = rounds.map((rows) => rows.map(({ block }) => block));
    expect(Math.min(...first)).to.be.at.least(Math.max(...second));
    expect(Math.min(...second)).to.be.at.least(Math.max(...third));
  });

  it("reads the head where the block's state is pruned, and stores null where all calls fail", async () => {
    const [first = "", second = ""] = POOLS;
    const pools = await bookOf([first, second]);
    for (const pool of [first, second]) setLastBlock(pools, pool, START + 700);
    const head = START + 720;
    const chain = createFakeSource({
      call: ({ to, block }) => (to === second ? "0x" : block === head ? word(450) : null),
    });
    const rows = await new FeeBook(CHAIN_ID).refresh(chain, { pools, head, fromBlock: START });
    const keyOf = (pool: string) => {
      const block = Math.max(START + 700, lastRefreshBlock(pool, head));
      return { chainId: CHAIN_ID, poolAddress: pool, block };
    };
    expect(rows).to.deep.equal([
      { ...keyOf(first), fee: 450 },
      { ...keyOf(second), fee: null },
    ]);
  });

  it("equals a book that read at the last head only, whatever was rolled back before", async () => {
    const step = fc.record({
      blocks: fc.integer({ min: 1, max: 1_200 }),
      touched: fc.subarray(POOLS),
      /** How far back from the new head the chain is then rolled. */
      undo: fc.oneof(fc.constant(0), fc.nat(2_500)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const store = await openTestStore();
        const events = new Map<string, number[]>(POOLS.map((pool) => [pool, []]));
        let head = START;
        const forks: number[] = [];
        /** Every fork below a block makes it another block. */
        const branchOf = (block: number) => forks.filter((fork) => fork < block).length;
        const chainNow = () =>
          createFakeSource({
            call: ({ to, block }) => word(feeAt(to, block) + branchOf(block) * 100_000_000),
          });
        const poolsNow = async () => {
          const pools = await bookOf(POOLS);
          for (const [pool, blocks] of events) setLastBlock(pools, pool, blocks.at(-1) ?? -1);
          return pools;
        };
        const refresh = async (book: FeeBook) =>
          book.refresh(chainNow(), { pools: await poolsNow(), head, fromBlock: START });
        let book = await FeeBook.load(store, CHAIN_ID);
        for (const { blocks, touched, undo } of steps) {
          head += blocks;
          for (const pool of touched) events.get(pool)?.push(head);
          await store.write([put(poolFees, await refresh(book))]);
          if (undo === 0) continue;
          head = Math.max(START, head - undo);
          forks.push(head);
          for (const [pool, list] of events)
            events.set(
              pool,
              list.filter((block) => block <= head),
            );
          await store.write([removeWhere(poolFees, { chainId: CHAIN_ID, block: { gt: head } })]);
          book = await FeeBook.load(store, CHAIN_ID);
        }
        await store.write([put(poolFees, await refresh(book))]);
        const fresh = await refresh(new FeeBook(CHAIN_ID));
        expect(await store.find(poolFees, {})).to.have.deep.members(fresh);
        await store.close();
      }),
      { numRuns: randomRuns(40) },
    );
  });
});
