import { expect } from "chai";
import { describe, it } from "mocha";
import { expectSame } from "../../testkit/expect-same.ts";
import { collection } from "../collection.ts";
import { put, remove, removeWhere, requireRow } from "../port.ts";
import { type SuiteOptions, useStore } from "./fixture.ts";
import { HEX } from "./sample.ts";

const holdings = collection({
  name: "holdings",
  fields: { pool: "hex", user: "hex", block: "int", amount: "int", hash: "hex?" },
  key: ["pool", "user", "block"],
  indexes: [{ fields: ["user", "pool"] }],
  shardKey: ["pool"],
});
/** As a version before hex declared them. */
const earlier = {
  ...holdings,
  fields: { pool: "text", user: "text", block: "int", amount: "int", hash: "text?" },
} as const;

const POOL = `0x${"c0".repeat(20)}`;
const holding = (user: string, block: number, amount = 1) => ({
  ...{ pool: POOL, user, block, amount },
  hash: amount === 1 ? null : `0x${"5a".repeat(31)}${amount.toString(16).padStart(2, "0")}`,
});

export function describeHex(options: SuiteOptions): void {
  describe("hex", () => {
    const fixture = useStore(options, [holdings]);

    it("is found by key, by keys and by the last of a key", async () => {
      const { store } = fixture;
      const rows = HEX.flatMap((user) => [holding(user, 3), holding(user, 7, 2)]);
      await store.write([put(holdings, rows)]);
      expect(await store.find(holdings, {}), "in the order of the key").to.deep.equal(rows);
      for (const row of rows) {
        const { pool, user, block } = row;
        expect(await store.get(holdings, { pool, user, block })).to.deep.equal(row);
      }
      const keys = HEX.map((user) => ({ pool: POOL, user, block: 5 }));
      expect(await store.getMany(holdings, keys)).to.deep.equal([]);
      const atThree = await store.getMany(
        holdings,
        keys.map((key) => ({ ...key, block: 3 })),
      );
      expect(new Set(atThree)).to.deep.equal(new Set(rows.filter(({ block }) => block === 3)));
      const last = await store.getLast(holdings, keys);
      expect(new Set(last)).to.deep.equal(new Set(rows.filter(({ block }) => block === 3)));
      const before = await store.getLast(holdings, [{ user: "0x0a", pool: "0xffff" }], ["user", "pool"]);
      expect(before).to.deep.equal([holding("0x0a", 7, 2)]);
      const users = await store.find(holdings, { filter: { block: 7 }, fields: ["user"] });
      expect(users.map(({ user }) => user)).to.deep.equal(HEX);
      expect(await store.plan(holdings, { filter: { user: "0x0a" } })).to.be.oneOf(["index", "unknown"]);
    });

    it("is replaced, required, compared and removed by key", async () => {
      const { store } = fixture;
      await store.write([put(holdings, [holding("0x0a", 1), holding("0x0b", 1), holding("0x0c", 1)])]);
      const key = { pool: POOL, user: "0x0a", block: 1 };
      await store.write([
        requireRow(holdings, key, { hash: null }),
        put(holdings, [holding("0x0a", 1, 2)]),
        remove(holdings, [{ ...key, user: "0x0b" }]),
        removeWhere(holdings, { pool: POOL, user: { gt: "0x0b" } }),
      ]);
      expect(await store.find(holdings, {})).to.deep.equal([holding("0x0a", 1, 2)]);
      const { hash } = holding("0x0a", 1, 2);
      expect(await store.compareAndSet(holdings, holding("0x0a", 1, 3), { hash: "0x00" })).to.equal(false);
      expect(await store.compareAndSet(holdings, holding("0x0a", 1, 3), { hash })).to.equal(true);
      expect(await store.compareAndSet(holdings, holding("0x0a", 1, 4), null)).to.equal(false);
      expect(await store.compareAndSet(holdings, holding("0x0d", 1, 4), null)).to.equal(true);
      expect(await store.find(holdings, {})).to.deep.equal([holding("0x0a", 1, 3), holding("0x0d", 1, 4)]);
    });

    it("may be a long list of one field", async () => {
      const { store } = fixture;
      const rows = Array.from({ length: 200 }, (_, i) =>
        holding(`0x${(i + 256).toString(16).padStart(4, "0")}`, i),
      );
      await store.write([put(holdings, rows)]);
      expect(await store.find(holdings, { fields: ["user"] })).to.deep.equal(
        rows.map(({ user }) => ({ user })),
      );
    });

    it("waits in packed rows", async () => {
      const { store } = fixture;
      const rows = store.openRows(holdings, "pool");
      for (const user of HEX) rows.add(holding(user, 1, 2));
      await store.write([put(holdings, rows.take())]);
      expect(await store.find(holdings, {})).to.deep.equal(HEX.map((user) => holding(user, 1, 2)));
    });

    it("waits in thousands of packed rows, with values that repeat and some that are long", async () => {
      const { store } = fixture;
      const LENGTHS = [0, 32, 254, 255, 256, 3_000];
      const expected = Array.from({ length: 2_500 }, (_, i) => ({
        ...holding(i < 1_200 ? "0x0a" : "0x0b", i),
        hash:
          i % 3 === 0 ? null : `0x5a${"c3".repeat(LENGTHS[Math.floor(i / 5) % LENGTHS.length] as number)}`,
      }));
      const rows = store.openRows(holdings, "pool");
      for (const row of expected) rows.add(row);
      await store.write([put(holdings, rows.take())]);
      expectSame(await store.find(holdings, {}), expected);
      // The memory of the first ones is used again.
      const later = expected.map((row) => ({ ...row, pool: `0x${"c1".repeat(20)}` }));
      for (const row of later) rows.add(row);
      await store.write([put(holdings, rows.take())]);
      expectSame(await store.find(holdings, { filter: { pool: later[0]?.pool as string } }), later);
    });

    it("is refused where it is not canonical, as value and in a filter", async () => {
      const { store } = fixture;
      for (const user of [
        "0x",
        "0x0",
        "0xA0",
        "0X00",
        "00",
        "x0",
        "0x0g",
        "0x0:",
        "0x0 ",
        " 0x00",
        "é",
        7,
        null,
      ]) {
        const said = `${JSON.stringify(user)} as holdings.user: it must be 0x and lower-case hex digits in pairs`;
        const works: (() => Promise<unknown>)[] = [
          () => store.write([put(holdings, [{ ...holding("", 1), user: user as string }])]),
          () => store.find(holdings, { filter: { user: { gte: user as string } } }),
        ];
        for (const work of works) {
          const error = await Promise.resolve()
            .then(work)
            .then(
              () => undefined,
              (refused: unknown) => refused as Error,
            );
          if (user === null && error?.message === "Cannot filter holdings.user: null is not a bound")
            continue;
          expect(error, String(user))
            .to.be.instanceOf(TypeError)
            .with.property("message")
            .that.contains(said);
        }
      }
      expect(await store.count(holdings, {})).to.equal(0);
    });
  });

  if (!options.traits.shared) return;
  describe("hex that was declared as text", () => {
    const fixture = useStore(options, [earlier]);

    it("stays as it was stored, and is read, found and extended", async () => {
      const { store } = fixture;
      await store.write([put(earlier, [holding("0x0a", 1, 2), holding("0x0b", 1)])]);
      const later = { ...holdings, fields: { ...holdings.fields, sender: "hex?" } } as const;
      const upgraded = await fixture.connect();
      await upgraded.declare([holdings]);
      await upgraded.declare([holdings]);
      const key = { pool: POOL, user: "0x0a", block: 1 };
      // A declaration is known by what it says.
      expect(await upgraded.get({ ...holdings }, key)).to.deep.equal(holding("0x0a", 1, 2));
      expect(await upgraded.get(holdings, key)).to.deep.equal(holding("0x0a", 1, 2));
      // Declares as the earlier version does, which may start again.
      const other = await fixture.connect();
      await upgraded.declare([later]);
      const row = { ...holding("0x0c", 1, 5), sender: "0x77" };
      await upgraded.write([put(later, [row])]);
      expect(await upgraded.find(later, { filter: { user: { gt: "0x0a" } } })).to.deep.equal([
        { ...holding("0x0b", 1), sender: null },
        row,
      ]);
      expect(await upgraded.find(later, { filter: { sender: "0x77" } })).to.deep.equal([row]);
      expect(await store.get(earlier, { ...key, user: "0x0c" }), "the earlier version goes on").to.deep.equal(
        holding("0x0c", 1, 5),
      );
      await other.declare([later]);
      expect(await other.count(later, { pool: POOL })).to.equal(3);
    });
  });
}
