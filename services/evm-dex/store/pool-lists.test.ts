import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { put, type Store } from "../../shared/storage/port.ts";
import { address, CHAIN_ID, openTestStore, poolRow, poolStateRow } from "../test/kit/rows.ts";
import { poolStates, pools } from "./collections.ts";
import { listKnownPools } from "./pool-lists.ts";

describe("listKnownPools", () => {
  const addresses = Array.from({ length: 12 }, (_, n) => address(0x900 + n));
  /** Pools with events: the first, the last, and those on both sides of a page's end. */
  const active = [0, 4, 5, 11].map((n) => addresses[n] as string);
  let store: Store;
  before(async () => {
    store = await openTestStore();
    const rows = addresses.map((poolAddress) => poolRow({ poolAddress }));
    const states = active.map((poolAddress, n) => poolStateRow({ poolAddress, lastBlock: 100 + n }));
    const elsewhere = { chainId: 1, poolAddress: address(0xa00) };
    await store.write([
      put(pools, [...rows, poolRow(elsewhere)]),
      put(poolStates, [...states, poolStateRow({ chainId: 1, poolAddress: addresses[1] as string })]),
    ]);
  });
  after(() => store.close());

  for (const pageSize of [1, 5, 6, 12, 13]) {
    it(`gives every pool of the chain once, with its own state, ${pageSize} at a time`, async () => {
      const found: [string, number | undefined][] = [];
      for await (const page of listKnownPools(store, { chainId: CHAIN_ID, pageSize })) {
        expect(page.length).to.be.within(1, pageSize);
        for (const { row, state } of page) {
          if (state !== undefined) expect(state.poolAddress).to.equal(row.poolAddress);
          found.push([row.poolAddress, state?.lastBlock]);
        }
      }
      const blockOf = new Map(active.map((pool, n) => [pool, 100 + n]));
      expect(found).to.deep.equal(addresses.map((pool) => [pool, blockOf.get(pool)]));
    });
  }

  it("is empty without pools", async () => {
    for await (const page of listKnownPools(store, { chainId: 10 })) expect.fail(`${page.length} pools`);
  });
});
