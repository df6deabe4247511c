import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { type OpenedStore, TEST_STORES } from "../../testkit/stores.ts";
import { type UsageRow, usageCollection } from "./usage-record.ts";
import { openUsageStore, type UsageStore } from "./usage-store.ts";

const row = (changes: Partial<UsageRow> = {}): UsageRow => ({
  subject: "key_1",
  day: 20_000,
  key: "key_1",
  endpoint: "/evm/chains",
  gateway: "g1",
  requests: 1,
  limited: 0,
  lastAt: 100,
  ...changes,
});

for (const [engine, open] of Object.entries(TEST_STORES)) {
  describe(`usage store on ${engine}${open ? "" : " (pending: MONGODB_URL is not set)"}`, () => {
    let opened: OpenedStore | undefined;
    let usage: UsageStore;

    before(async function () {
      if (!open) {
        this.skip();
        return;
      }
      opened = await open();
      usage = await openUsageStore(opened.store);
      await usage.save([
        row({ requests: 5 }),
        row({ requests: 2, gateway: "g2", lastAt: 200 }),
        row({ requests: 4, limited: 3, endpoint: "/evm/dexes" }),
        row({ requests: 9, day: 20_001, gateway: "g2", lastAt: 90_000 }),
        row({ requests: 7, day: 20_001, gateway: "g1", lastAt: 91_000 }),
        row({ requests: 1, day: 20_001, key: "key_2", lastAt: 99_000 }),
        row({ requests: 50, subject: "key_3", key: "key_3" }),
      ]);
    });
    after(() => opened?.close());

    it("adds up a subject's day over its keys, endpoints and gateways", async () => {
      expect(await usage.countPassed("key_1", 20_000)).to.equal(11);
      expect(await usage.countPassed("key_1", 20_001)).to.equal(17);
      expect(await usage.countPassed("key_1", 20_002)).to.equal(0);
    });

    it("adds up a key from a day on, and returns its rows", async () => {
      expect(await usage.sumTotals("key_1", 20_000)).to.deep.equal({ requests: 27, limited: 3 });
      expect(await usage.sumTotals("key_1", 20_001)).to.deep.equal({ requests: 16, limited: 0 });
      expect(await usage.findByKey("key_1", 20_000)).to.have.length(5);
      expect(await usage.findByKey("key_2", 20_000)).to.deep.equal([
        row({ requests: 1, day: 20_001, key: "key_2", lastAt: 99_000 }),
      ]);
    });

    it("knows when a key was last used, through whichever gateway", async () => {
      expect(await usage.findLastUse("key_1")).to.equal(91_000);
      expect(await usage.findLastUse("key_nobody")).to.equal(undefined);
    });

    it("returns the same when a count is written again, and more when it has grown", async () => {
      const grown = row({ subject: "key_4", key: "key_4", requests: 8 });
      await usage.save([row({ subject: "key_4", key: "key_4", requests: 6 })]);
      for (let i = 0; i < 2; i += 1) await usage.save([grown]);
      expect(await usage.countPassed("key_4", 20_000)).to.equal(8);
    });

    it("writes many rows, and forgets those before a day", async () => {
      const many = Array.from({ length: 1_201 }, (_, i) =>
        row({ subject: "many", key: "many", endpoint: `/${i}`, day: 19_000 + (i % 3) }),
      );
      await usage.save(many);
      expect(await usage.sumTotals("many", 0)).to.deep.equal({ requests: 1_201, limited: 0 });
      await usage.removeBefore(19_002);
      expect(await usage.sumTotals("many", 0)).to.deep.equal({ requests: 400, limited: 0 });
      expect(await usage.countPassed("key_1", 20_000)).to.equal(11);
    });

    it("reads by indexes", async () => {
      const filters = [{ key: "x", day: { gte: 1 } }, { subject: "x", day: 1 }, { day: { gte: 0, lt: 1 } }];
      for (const filter of filters)
        expect(await opened?.store.plan(usageCollection, { filter })).to.be.oneOf(["index", "unknown"]);
      const last = { filter: { key: "x" }, order: [{ field: "day", direction: "desc" }], limit: 1 } as const;
      expect(await opened?.store.plan(usageCollection, last)).to.be.oneOf(["index", "unknown"]);
    });
  });
}
