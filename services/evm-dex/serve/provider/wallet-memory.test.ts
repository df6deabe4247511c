import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { createRandom } from "../../../../deploy/devnet/random.ts";
import { headers } from "../../../shared/index/evm/headers.ts";
import { TimeSlices } from "../../../shared/process/time-slices.ts";
import { put, removeWhere, type Store } from "../../../shared/storage/port.ts";
import { expectSame } from "../../../shared/testkit/expect-same.ts";
import { EMPTY_POSITION, positionText } from "../../metrics/lp-position.ts";
import { lpEvents, lpPositions } from "../../store/v2-collections.ts";
import { address, CHAIN_ID, checkpointRow, hash, openTestStore } from "../../test/kit/rows.ts";
import { WalletMemory } from "./wallet-memory.ts";

const WALLET = address(0xa);
const OTHER = address(0xb);
/** Between two times that positions are asked for. */
const PERIOD = 50;

describe("WalletMemory", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  /** One event a block, at the block's number as time. */
  async function addBlock(block: number, event: { wallet: string; pool: number; branch: number }) {
    const { branch, pool, wallet } = event;
    const position = positionText.write({ ...EMPTY_POSITION, balance: BigInt(1_000 * block + branch) });
    const key = { chainId: CHAIN_ID, wallet, poolAddress: address(pool) };
    const stored = await store.get(lpPositions, key);
    const firstTime = stored?.firstTime ?? block;
    const anchor = positionText.write(EMPTY_POSITION);
    await store.write([
      put(lpEvents, [
        { ...key, blockNumber: block, logIndex: 0, blockHash: hash(block + branch), time: block, position },
      ]),
      put(lpPositions, [{ ...key, position, anchor, firstTime, lastTime: block, lastBlock: block }]),
      put(headers, [
        { chainId: CHAIN_ID, number: block, hash: hash(block + branch), parentHash: hash(0), time: block },
      ]),
    ]);
  }

  /** As a rollback: positions are what their last events that are left say. */
  async function undoFrom(block: number): Promise<void> {
    const undone = { chainId: CHAIN_ID, lastBlock: { gte: block } };
    const changed = await store.find(lpPositions, { filter: undone });
    await store.write([
      removeWhere(lpEvents, { chainId: CHAIN_ID, blockNumber: { gte: block } }),
      removeWhere(headers, { chainId: CHAIN_ID, number: { gte: block } }),
      removeWhere(lpPositions, undone),
    ]);
    for (const row of changed) {
      const { wallet, poolAddress } = row;
      const [last] = await store.find(lpEvents, {
        filter: { chainId: CHAIN_ID, wallet, poolAddress },
        order: [{ field: "time", direction: "desc" }],
        limit: 1,
      });
      if (last === undefined) continue;
      const { position, blockNumber, time } = last;
      await store.write([put(lpPositions, [{ ...row, position, lastBlock: blockNumber, lastTime: time }])]);
    }
  }

  /** Replaces the last blocks by others, which touch other pools. */
  async function replaceFrom(from: number, { to, branch }: { to: number; branch: number }): Promise<void> {
    await undoFrom(from);
    for (let block = from; block < to; block++)
      await addBlock(block, { wallet: WALLET, pool: 0x100 + block, branch });
  }

  /** What a memory says, which keeps it; the times are the last three periods before the block's. */
  async function read(memory: WalletMemory, { block, branch }: { block: number; branch: number }) {
    const checkpoint = checkpointRow({ blockNumber: block, blockHash: hash(block + branch), fromBlock: 1 });
    const last = block - (block % PERIOD);
    const times = [last - 2 * PERIOD, last - PERIOD, last];
    const query = { chainId: CHAIN_ID, wallet: WALLET, isKnown: true, slices: new TimeSlices() };
    const positions = await memory.readPositions(store, { ...query, checkpoint });
    const past = await memory.readPast(store, { ...query, positions, since: times[0] ?? 0, times });
    memory.keep(query, { checkpoint, positions, times, past });
    const byPool = <T>(map: ReadonlyMap<string, T>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
    return { all: byPool(positions.all), past: byPool(past), isAnew: positions.changed === undefined };
  }

  it("says what a fresh read says at every head, over days and reorgs, and reads little anew", async () => {
    const random = createRandom(5);
    const memory = new WalletMemory({ leastPositions: 0 });
    let branch = 0;
    let anew = 0;
    for (let block = 1; block <= 400; block++) {
      if (block % 90 === 0) {
        branch += 1_000_000;
        await replaceFrom(block - 4, { to: block, branch });
      }
      const wallet = random.below(3) === 0 ? OTHER : WALLET;
      await addBlock(block, { wallet, pool: 0x10 + random.below(25), branch });
      if (random.below(3) === 0) continue;
      const { isAnew, ...kept } = await read(memory, { block, branch });
      const { isAnew: _, ...fresh } = await read(new WalletMemory({ leastPositions: 0 }), { block, branch });
      expectSame(kept.all, fresh.all, `positions at ${block}`);
      // Positions that are the same at all times need not be in it.
      expect(new Map([...fresh.past, ...kept.past]), `past at ${block}`).to.deep.equal(
        new Map([...kept.past, ...fresh.past]),
      );
      if (isAnew) anew += 1;
    }
    expect(anew, "the first, and after each reorg").to.equal(5);
  });
});
