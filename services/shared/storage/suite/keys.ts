import { expect } from "chai";
import fc from "fast-check";
import { before, describe, it } from "mocha";
import { randomRuns } from "../../testkit/describe.ts";
import { collection, type RowOf } from "../collection.ts";
import { put } from "../port.ts";
import { type SuiteOptions, useStore } from "./fixture.ts";
import { HEX, ODD_TEXTS } from "./sample.ts";

/** A key of every type that one may have, before and after fields that are in none. */
const places = collection({
  name: "places",
  fields: {
    note: "text?",
    name: "text",
    owner: "hex",
    at: "int",
    isOpen: "bool",
    size: "bigint",
    share: "float",
    seal: "hex?",
  },
  key: ["isOpen", "at", "name", "owner", "size"],
  indexes: [],
  shardKey: ["isOpen"],
});
type Place = RowOf<typeof places>;

const INTEGERS = [
  0,
  1,
  -1,
  99_999_999,
  100_000_000,
  -8_453,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
];
const anyKey = fc.record({
  isOpen: fc.boolean(),
  at: fc.constantFrom(...INTEGERS),
  name: fc.constantFrom(...ODD_TEXTS),
  owner: fc.constantFrom(...HEX),
  size: fc.constantFrom(0n, 1n, -1n, 2n ** 256n, -(2n ** 256n)),
});
type Key = typeof anyKey extends fc.Arbitrary<infer K> ? K : never;

const nameOf = ({ isOpen, at, name, owner, size }: Key): string =>
  JSON.stringify([isOpen, at, name, owner, String(size)]);
const placeOf = (key: Key, i: number): Place => ({
  ...key,
  note: i % 3 === 0 ? null : `note ${i}`,
  share: i / 7,
  seal: HEX[i % HEX.length] as string,
});
const byName = (rows: readonly Place[]): Map<string, Place> => new Map(rows.map((row) => [nameOf(row), row]));

export function describeKeys(options: SuiteOptions): void {
  describe("keys of every type", () => {
    const fixture = useStore(options, [places]);
    let keys: Key[];
    let rows: Map<string, Place>;

    before(() => {
      keys = fc.sample(anyKey, { numRuns: 600, seed: 5 });
      // Half of them are stored.
      rows = byName(keys.slice(0, 300).map(placeOf));
    });

    it("find the rows that are stored, each once, and whole", async () => {
      const { store } = fixture;
      await store.write([put(places, [...rows.values()])]);
      const alike: ((key: Key) => unknown)[] = [
        // Keys of one length on the one hand, of many lengths on the other.
        ({ name, owner, size }) => [name.length, owner.length, size],
        ({ isOpen }) => isOpen,
        nameOf,
      ];
      for (const kindOf of alike) {
        for (const group of grouped(keys, kindOf)) {
          const found = await store.getMany(places, [...group, ...group.slice(0, 3)]);
          const wanted = group.flatMap((key) => rows.get(nameOf(key)) ?? []);
          expect(found).to.have.length(byName(wanted).size);
          expect(byName(found)).to.deep.equal(byName(wanted));
        }
      }
    });

    it("may be any, in any order", async () => {
      const { store } = fixture;
      await store.write([put(places, [...rows.values()])]);
      await fc.assert(
        fc.asyncProperty(fc.array(fc.constantFrom(...keys), { maxLength: 12 }), async (list) => {
          const wanted = list.flatMap((key) => rows.get(nameOf(key)) ?? []);
          const found = await store.getMany(places, list);
          expect(found).to.have.length(byName(wanted).size);
          expect(byName(found)).to.deep.equal(byName(wanted));
        }),
        { numRuns: randomRuns(200) },
      );
    });

    it("are refused where a value is none of its type", async () => {
      const { store } = fixture;
      const [good] = keys as [Key];
      for (const wrong of [
        { at: 1.5 },
        { owner: "0xABCD" },
        { size: 1 },
        { name: undefined },
        { isOpen: 1 },
      ]) {
        const found = store.getMany(places, [good, { ...good, ...wrong } as never]);
        expect(await found.catch((error: unknown) => error)).to.be.instanceOf(TypeError);
      }
    });
  });
}

function grouped(keys: readonly Key[], kindOf: (key: Key) => unknown): Key[][] {
  const groups = new Map<string, Key[]>();
  for (const key of keys) {
    const kind = String(kindOf(key));
    groups.set(kind, [...(groups.get(kind) ?? []), key]);
  }
  return [...groups.values()];
}
