import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Cache } from "./port.ts";

export interface CacheUnderTest {
  readonly cache: Cache;
  /** Advances the clock that entries expire by. */
  advance(ms: number): Promise<void>;
}

/** The contract of every cache while its engine is up. Run it from the engine's own test file. */
export function describeCache(name: string, open: () => Promise<CacheUnderTest>): void {
  describe(`cache contract: ${name}`, () => {
    let cache: Cache;
    let advance: CacheUnderTest["advance"];
    let scope: string;
    /** A key of this test alone: a server may be shared. */
    const own = (key: string): string => `${scope} ${key}`;
    const LONG = { ttlMs: 60_000 };

    beforeEach(async () => {
      scope = randomUUID();
      ({ cache, advance } = await open());
    });
    afterEach(() => cache.close());

    it("returns what was set, and undefined for a missing key", async () => {
      await cache.set(own("a"), "1", LONG);
      expect(await cache.get(own("a"))).to.equal("1");
      expect(await cache.get(own("b"))).to.equal(undefined);
      await cache.set(own("a"), "2", LONG);
      expect(await cache.get(own("a"))).to.equal("2");
    });

    it("accepts any text as key and value", async () => {
      const texts = [
        "",
        " ",
        "a\0b",
        "a\r\nGET x\r\n",
        "é",
        "日本",
        "\u{1F680}",
        '{"a":1}',
        "*",
        "x".repeat(500_000),
      ];
      for (const text of texts) {
        await cache.set(own(text), text, LONG);
        expect(await cache.get(own(text))).to.equal(text);
      }
    });

    it("reads many keys in order, with missing and repeated keys", async () => {
      const entries = ["a", "b", "c"].map((key) => [own(key), key] as const);
      await cache.setMany(entries, LONG);
      const keys = ["c", "x", "a", "a", "b", "y"].map(own);
      expect(await cache.getMany(keys)).to.deep.equal(["c", undefined, "a", "a", "b", undefined]);
      expect(await cache.getMany([])).to.deep.equal([]);
    });

    it("writes many entries at once; the last value of a key wins", async () => {
      const entries = Array.from({ length: 3_000 }, (_, i) => [own(`key ${i}`), `value ${i}`] as const);
      await cache.setMany([[own("key 7"), "old"], ...entries], LONG);
      expect(await cache.getMany(entries.map(([key]) => key))).to.deep.equal(
        entries.map(([, value]) => value),
      );
      await cache.setMany([], LONG);
    });

    it("expires an entry when its TTL has passed, and not before", async () => {
      await cache.set(own("short"), "1", { ttlMs: 200 });
      await cache.set(own("long"), "2", { ttlMs: 60_000 });
      expect(await cache.getMany([own("short"), own("long")])).to.deep.equal(["1", "2"]);
      await advance(250);
      expect(await cache.getMany([own("short"), own("long")])).to.deep.equal([undefined, "2"]);
    });

    it("gives an entry that is set again its new TTL", async () => {
      await cache.set(own("a"), "1", { ttlMs: 100 });
      await cache.set(own("a"), "2", { ttlMs: 60_000 });
      await cache.set(own("b"), "1", { ttlMs: 60_000 });
      await cache.set(own("b"), "2", { ttlMs: 100 });
      await advance(150);
      expect(await cache.getMany([own("a"), own("b")])).to.deep.equal(["2", undefined]);
    });

    it("treats a TTL of zero or less as a removal, and accepts fractions and infinity", async () => {
      for (const ttlMs of [0, -1, Number.NaN]) {
        await cache.set(own("a"), "1", LONG);
        await cache.set(own("a"), "2", { ttlMs });
        expect(await cache.get(own("a")), `${ttlMs}`).to.equal(undefined);
      }
      for (const ttlMs of [59_999.5, Number.POSITIVE_INFINITY]) {
        await cache.set(own("a"), "1", { ttlMs });
        expect(await cache.get(own("a")), `${ttlMs}`).to.equal("1");
      }
    });

    it("deletes keys, present or not", async () => {
      await cache.setMany(
        [
          [own("a"), "1"],
          [own("b"), "2"],
        ],
        LONG,
      );
      await cache.delete([own("a"), own("x")]);
      await cache.delete([]);
      expect(await cache.getMany([own("a"), own("b")])).to.deep.equal([undefined, "2"]);
    });

    it("returns touched members, the latest first", async () => {
      const bounds = { ttlMs: 60_000, keep: 100 };
      const all = { ttlMs: 60_000, limit: 100 };
      for (const member of ["a", "b", "c", "a"]) {
        await cache.touch(own("set"), [member], bounds);
        await advance(2);
      }
      expect(await cache.recent(own("set"), all)).to.deep.equal(["a", "c", "b"]);
      expect(await cache.recent(own("set"), { ...all, limit: 2 })).to.deep.equal(["a", "c"]);
      expect(await cache.recent(own("set"), { ...all, limit: 0 })).to.deep.equal([]);
      expect(await cache.recent(own("another"), all)).to.deep.equal([]);
      await cache.touch(own("set"), [], bounds);
      expect(await cache.recent(own("set"), all)).to.have.length(3);
    });

    it("drops members that were not touched for long, and the oldest beyond a number", async () => {
      const bounds = { ttlMs: 300, keep: 2 };
      await cache.touch(own("set"), ["old"], bounds);
      await advance(200);
      await cache.touch(own("set"), ["new"], bounds);
      expect(await cache.recent(own("set"), { ttlMs: 300, limit: 9 })).to.deep.equal(["new", "old"]);
      await advance(150);
      expect(await cache.recent(own("set"), { ttlMs: 300, limit: 9 })).to.deep.equal(["new"]);
      await cache.touch(own("set"), ["newer"], bounds);
      expect(await cache.recent(own("set"), { ttlMs: 60_000, limit: 9 }), "gone for good").to.deep.equal([
        "newer",
        "new",
      ]);
      await advance(2);
      await cache.touch(own("set"), ["newest"], bounds);
      expect(await cache.recent(own("set"), { ttlMs: 60_000, limit: 9 })).to.deep.equal(["newest", "newer"]);
      await advance(400);
      expect(await cache.recent(own("set"), { ttlMs: 300, limit: 9 })).to.deep.equal([]);
      const many = Array.from({ length: 1_200 }, (_, i) => `member ${i}`);
      await cache.touch(own("large"), many, { ttlMs: 60_000, keep: 2_000 });
      const found = await cache.recent(own("large"), { ttlMs: 60_000, limit: 2_000 });
      expect(found).to.have.members(many);
    });

    it("is healthy while it answers; after close every read is a miss without an error", async () => {
      await cache.set(own("a"), "1", LONG);
      expect(cache.healthy()).to.equal(true);
      await cache.close();
      await cache.close();
      expect(cache.healthy()).to.equal(false);
      await cache.set(own("a"), "2", LONG);
      await cache.setMany([[own("b"), "2"]], LONG);
      await cache.delete([own("a")]);
      await cache.touch(own("set"), ["a"], { ttlMs: 60_000, keep: 9 });
      expect(await cache.recent(own("set"), { ttlMs: 60_000, limit: 9 })).to.deep.equal([]);
      expect(await cache.get(own("a"))).to.equal(undefined);
      expect(await cache.getMany([own("a"), own("b")])).to.deep.equal([undefined, undefined]);
    });
  });
}
