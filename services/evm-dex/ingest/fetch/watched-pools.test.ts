import { expect } from "chai";
import { describe, it } from "mocha";
import { encodeAbiParameters } from "viem";
import { put } from "../../../shared/storage/port.ts";
import { EMPTY_V2_STATE, writeV2State } from "../../protocols/aerodrome-v2/state.ts";
import { poolStates, pools } from "../../store/collections.ts";
import { createFakeSource } from "../../test/kit/fake-source.ts";
import {
  address,
  CHAIN_ID,
  checkpointRow,
  openTestStore,
  poolRow,
  poolStateRow,
} from "../../test/kit/rows.ts";
import { PoolBook } from "../state/pool-book.ts";
import { loadWatchedPools } from "./watched-pools.ts";

const START = 100;
const v2 = (n: number, createdBlock: number) =>
  poolRow({ poolAddress: address(0x900 + n), protocol: "aerodrome-v2", createdBlock });
const stateOf = (poolAddress: string, totalSupply: bigint) =>
  poolStateRow({
    poolAddress,
    state: writeV2State({ ...EMPTY_V2_STATE, totalSupply }),
    anchor: writeV2State(EMPTY_V2_STATE),
  });

/** Supplies by the calls' contract; null: no node has that state. */
const SUPPLIES: Record<string, bigint | null> = {
  [address(0x903)]: 5_000n,
  [address(0x904)]: null,
  [address(0x905)]: 1_000n,
};

describe("loadWatchedPools", () => {
  it("watches the pools whose LP tokens can move, and reads only those without events", async () => {
    const store = await openTestStore();
    const [filled, emptied, fresh] = [v2(0, 3), v2(1, 3), v2(2, START)];
    const [held, unknown, locked] = [v2(3, 3), v2(4, START - 1), v2(5, 3)];
    await store.write([
      put(pools, [
        filled,
        emptied,
        fresh,
        held,
        unknown,
        locked,
        poolRow({ poolAddress: address(0x800), createdBlock: 3 }),
      ]),
      put(poolStates, [stateOf(filled.poolAddress, 1_001n), stateOf(emptied.poolAddress, 1_000n)]),
    ]);
    const book = new PoolBook(store, CHAIN_ID);
    for await (const _ of book.load());
    const source = createFakeSource({
      call: ({ to }) => {
        const supply = SUPPLIES[to];
        if (supply === undefined) throw new Error(`${to} was not to be requested.`);
        return supply === null ? null : encodeAbiParameters([{ type: "uint256" }], [supply]);
      },
    });
    const checkpoint = checkpointRow({ fromBlock: START, blockNumber: 250 });
    const watch = await loadWatchedPools(store, { source, pools: book, checkpoint });
    expect(watch.list()).to.have.members(
      [filled, held, unknown].map(({ poolAddress }) => poolAddress as `0x${string}`),
    );
    expect(source.calls.flat().map(({ block, data }) => [block, data])).to.deep.equal(
      Array.from({ length: 3 }, () => [250, "0x18160ddd"]),
    );
    await store.close();
  });
});
