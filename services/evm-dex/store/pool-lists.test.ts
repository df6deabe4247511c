import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { put, type Store } from "../../shared/storage/port.ts";
import { KINDS } from "../protocols/protocol.ts";
import { address, CHAIN_ID, openTestStore, poolRow } from "../test/kit/rows.ts";
import { pools } from "./collections.ts";
import { listKnownPools } from "./pool-lists.ts";

describe("listKnownPools", () => {
  const addresses = Array.from({ length: 12 }, (_, n) => address(0x900 + n));
  let store: Store;
  before(async () => {
    store = await openTestStore();
    const rows = addresses.map((poolAddress) => poolRow({ poolAddress }));
    await store.write([put(pools, [...rows, poolRow({ chainId: 1, poolAddress: address(0xa00) })])]);
  });
  after(() => store.close());

  for (const pageSize of [1, 5, 6, 12, 13]) {
    it(`gives every pool of the chain once, ${pageSize} at a time`, async () => {
      const found: string[] = [];
      for await (const page of listKnownPools(store, { chainId: CHAIN_ID, kinds: KINDS, pageSize })) {
        expect(page.addresses.length).to.be.within(1, pageSize);
        expect(page.kind).to.equal("uniswap-v3");
        found.push(...page.addresses);
      }
      expect(found).to.deep.equal(addresses);
    });
  }

  it("is empty without pools", async () => {
    for await (const page of listKnownPools(store, { chainId: 10, kinds: KINDS }))
      expect.fail(`${page.addresses.length} pools`);
  });
});
