import { expect } from "chai";
import { describe, it } from "mocha";
import { type Collection, collection } from "../collection.ts";
import { compileCollection } from "../declaration.ts";
import { put, remove, removeWhere } from "../port.ts";
import { type SuiteOptions, useStore } from "./fixture.ts";
import { allOf, sample, samples } from "./sample.ts";

const fingerprintOf = (declared?: Collection) => declared && compileCollection(declared).fingerprint;

export function describeDeclarations(options: SuiteOptions): void {
  describe("declarations", () => {
    const fixture = useStore(options, [samples]);
    const failure = (work: Promise<unknown>): Promise<Error> =>
      work.then(
        () => expect.fail("it was accepted"),
        (error: unknown) => error as Error,
      );

    it("may be repeated, and leaves the rows alone", async () => {
      const { store } = fixture;
      await store.write([put(samples, [sample(1)])]);
      await store.declare([samples]);
      await store.declare([{ ...samples }, samples]);
      expect(await allOf(store)).to.deep.equal([sample(1)]);
    });

    if (options.traits.shared) {
      it("may be repeated by several connections at once", async () => {
        const stores = await Promise.all([fixture.connect(), fixture.connect(), fixture.connect()]);
        const other = { ...samples, name: "others" };
        await Promise.all(stores.map((store) => store.declare([samples, other])));
        await fixture.store.declare([other]);
        await stores[2].write([put(other, [sample(1)])]);
        expect(await fixture.store.count(other, {})).to.equal(1);
      });
    }

    const changes: [what: string, changed: Collection, said: string][] = [
      [
        "a field's type",
        { ...samples, fields: { ...samples.fields, tick: "float?" } },
        "field tick (int? is now float?)",
      ],
      [
        "a new field",
        { ...samples, fields: { ...samples.fields, extra: "int" } },
        "field extra (absent is now int)",
      ],
      ["the key", { ...samples, key: ["chainId"], shardKey: ["chainId"] }, "key"],
      ["the indexes", { ...samples, indexes: [] }, "indexes"],
      [
        "the direction of an index",
        { ...samples, indexes: samples.indexes.map((index) => ({ ...index, descending: [] })) },
        "indexes",
      ],
      [
        "what an index carries",
        { ...samples, indexes: samples.indexes.map((index) => ({ ...index, carries: [] })) },
        "indexes",
      ],
      ["what a field holds", { ...samples, contents: "tags: names" }, "contents"],
    ];
    for (const [what, changed, said] of changes) {
      it(`refuses a declaration that changes ${what}, and says what to do`, async () => {
        const { store } = fixture;
        const { message } = await failure(store.declare([changed]));
        expect(message).to.contain('"samples"').and.contain(said);
        // Fewer indexes are what an older version had.
        expect(message).to.match(
          /Start that version, or restore a backup|npm run reindex .* keys and payments/,
        );
        expect(message).not.to.contain("Delete DATA_DIR");
        await store.write([put(samples, [sample(1)])]);
        expect(await store.count(samples, {})).to.equal(1);
      });
    }

    const keyOf = (id: number) => {
      const { chainId, address } = sample(id);
      return { chainId, address };
    };
    it("adds nullable fields and indexes to a collection that is in use, whose rows stay", async () => {
      const { store } = fixture;
      await store.write([put(samples, [sample(1), sample(2)])]);
      const later = {
        ...samples,
        fields: { ...samples.fields, remark: "text?", weight: "int?" },
        indexes: [...samples.indexes, { fields: ["weight"] }],
      } as const;
      const upgraded = options.traits.shared ? await fixture.connect() : store;
      await upgraded.declare([later]);
      await upgraded.declare([later]);
      expect(await upgraded.get(later, keyOf(1))).to.deep.equal({ ...sample(1), remark: null, weight: null });
      const noted = { ...sample(3), remark: "new", weight: 7 };
      await upgraded.write([put(later, [noted])]);
      const heavy = { filter: { weight: 7 } };
      expect(await upgraded.find(later, heavy)).to.deep.equal([noted]);
      expect(await upgraded.plan(later, heavy)).to.be.oneOf(["index", "unknown"]);
      if (!options.traits.shared) return;
      // A version that runs meanwhile goes on.
      expect(await store.get(samples, keyOf(3))).to.deep.equal(sample(3));
      await store.write([put(samples, [sample(4)])]);
      expect(await upgraded.count(later, {})).to.equal(4);
      // Connecting declares.
      const { message } = await failure(fixture.connect());
      expect(message)
        .to.contain("a newer version of this program has written it")
        .and.contain("field remark");
    });

    it("drops a former index, and an older process that runs goes on", async () => {
      const { store } = fixture;
      await store.write([put(samples, [sample(1), sample(2)])]);
      const isFormer = ({ fields }: { fields: readonly string[] }) => fields.join() === "amount";
      const indexes = samples.indexes.filter((index) => !isFormer(index));
      const later = { ...samples, indexes, formerIndexes: samples.indexes.filter(isFormer) } as const;
      const byAmount = { filter: { amount: -1n } };
      const upgraded = options.traits.shared ? await fixture.connect() : store;
      await upgraded.declare([later]);
      await upgraded.declare([later]);
      // Recorded as dropped: else a version that does not know it would refuse the store.
      const forgetful = { ...samples, indexes } as const;
      const isRecorded = () =>
        upgraded.declare([forgetful]).then(
          () => true,
          () => false,
        );
      for (let tries = 0; !(await isRecorded()); tries++) {
        if (tries === 200) expect.fail("the index is still recorded");
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(await upgraded.find(later, byAmount)).to.deep.equal([sample(1)]);
      expect(await upgraded.find(later, { filter: { dex: "dex 2" } })).to.deep.equal([sample(2)]);
      expect(await store.find(samples, byAmount)).to.deep.equal([sample(1)]);
      await store.write([put(samples, [sample(3)])]);
      expect(await upgraded.count(later, {})).to.equal(3);
      // At last: SQLite's driver leaves the statement of a plan open.
      expect(await upgraded.plan(later, { filter: { blockTime: 1 } })).to.be.oneOf(["index", "unknown"]);
      expect(await upgraded.plan(later, byAmount)).to.be.oneOf(["scan", "unknown"]);
    });

    it("makes a collection anew that was forgotten, which only one without rows can be", async () => {
      const { store } = fixture;
      const other = { ...samples, name: "others" };
      await store.declare([other]);
      const readers = options.traits.shared ? [await fixture.connect()] : [];
      await store.write([put(samples, [sample(1)])]);
      expect(await store.forget([other, samples])).to.equal(false);
      const later = {
        ...samples,
        fields: { ...samples.fields, tick: "float", dex: "int" },
        indexes: [{ fields: ["dex", "tick"] }],
        key: ["address"],
        shardKey: ["address"],
      } as const;
      await failure(store.declare([later]));
      await failure(store.declare([{ ...later, name: "others" }]));
      await store.write([removeWhere(samples, {})]);
      expect(await store.forget([other, samples])).to.equal(true);
      expect(await store.forget([other, samples])).to.equal(true);
      for (const reader of readers) expect(await allOf(reader)).to.deep.equal([]);
      await store.declare([later]);
      await store.declare([later]);
      const row = { ...sample(2), tick: 1.5, dex: 7 };
      await store.write([put(later, [row])]);
      const byIndex = { filter: { dex: 7, tick: { gt: 1 } } };
      expect(await store.find(later, byIndex)).to.deep.equal([row]);
      expect(await store.plan(later, byIndex)).to.be.oneOf(["index", "unknown"]);
      expect(await store.get(later, { address: row.address })).to.deep.equal(row);
    });

    it("answers the same wherever rows lie, and takes no change of it for another declaration", async () => {
      const { store } = fixture;
      const moves = collection({
        ...{ name: "moves", fields: { block: "int", pool: "hex", tick: "int" }, key: ["block"] },
        indexes: [{ fields: ["pool", "block"] }],
        shardKey: ["pool"],
      });
      const heap = { ...moves, name: "heap_moves", layout: "heap" } as const;
      await store.declare([moves, heap]);
      const rows = [3, 1, 2].map((block) => ({ block, pool: "0x0a", tick: block }));
      for (const each of [moves, heap]) {
        await store.write([put(each, rows), put(each, [{ block: 2, pool: "0x0b", tick: 7 }])]);
        await store.write([remove(each, [{ block: 3 }])]);
      }
      await store.declare([
        { ...moves, layout: "heap" },
        { ...moves, name: "heap_moves" },
      ]);
      for (const each of [moves, heap]) {
        expect((await store.find(each, {})).map(({ tick }) => tick)).to.deep.equal([1, 7]);
        const ofPool = { filter: { pool: "0x0b", block: { lte: 2 } } };
        expect(await store.find(each, ofPool)).to.have.length(1);
        expect(await store.plan(each, ofPool)).to.be.oneOf(["index", "unknown"]);
      }
    });

    it("opens what is stored as it is, also what a declaration refuses", async () => {
      const { store } = fixture;
      const notes = collection({
        ...{ name: "notes", fields: { id: "int", at: "int", text: "text?" }, key: ["id"], shardKey: ["id"] },
        indexes: [
          { fields: ["at", "id"], descending: ["at"], unique: true },
          { fields: ["at"], descending: ["at"], carries: ["text"] },
        ],
        contents: "of an earlier version",
      });
      await store.declare([notes]);
      await store.write([
        put(samples, [sample(1), sample(2)]),
        put(notes, [
          { id: 1, at: 5, text: "a" },
          { id: 2, at: 6, text: null },
        ]),
      ]);
      const later = options.traits.shared ? await fixture.connect() : store;
      await failure(later.declare([{ ...notes, contents: "of this version" }]));
      const stored = new Map((await later.openStored()).map((each) => [each.name, each]));
      for (const declared of [samples, notes])
        expect(fingerprintOf(stored.get(declared.name)), declared.name).to.equal(fingerprintOf(declared));
      const [found, foundNotes] = [stored.get("samples"), stored.get("notes")] as [Collection, Collection];
      expect(await later.count(found, { address: sample(1).address })).to.equal(1);
      const { key } = foundNotes;
      const keys = await later.find(foundNotes, { filter: { at: 6 }, fields: [...key], limit: 5 });
      expect(keys).to.deep.equal([{ id: 2 }]);
      await later.write([remove(foundNotes, keys), removeWhere(found, {})]);
      expect(await store.find(notes, { filter: {} })).to.deep.equal([{ id: 1, at: 5, text: "a" }]);
      expect(await allOf(store)).to.deep.equal([]);
    });

    const faults: [fault: string, declaration: Collection, said: string][] = [
      ["a name that is no identifier", { ...samples, name: 'x"; --' }, "letters, digits"],
      [
        "a field name with an operator in it",
        { ...samples, fields: { ...samples.fields, $set: "int" } },
        "$set",
      ],
      ["a key field that is not declared", { ...samples, key: ["chainId", "pool"] }, '"pool"'],
      ["a key field that may be null", { ...samples, key: ["chainId", "address", "tick"] }, '"tick"'],
      [
        "a unique index over a nullable field",
        { ...samples, indexes: [{ fields: ["tick"], unique: true }] },
        "unique index",
      ],
      ["an index over json", { ...samples, indexes: [{ fields: ["tags"] }] }, "json"],
      [
        "an index that descends by a field it has not",
        { ...samples, indexes: [{ fields: ["tick"], descending: ["dex"] }] },
        '"dex"',
      ],
      [
        "an index that carries what it has",
        { ...samples, indexes: [{ fields: ["tick"], carries: ["address"] }] },
        '"address"',
      ],
      [
        "an index that is a former one too",
        { ...samples, formerIndexes: [{ fields: ["blockTime"] }] },
        "former",
      ],
      ["a shard key that no key or index begins with", { ...samples, shardKey: ["address"] }, "shard key"],
    ];
    for (const [fault, declaration, said] of faults) {
      it(`refuses ${fault}`, async () => {
        const { message } = await failure(fixture.store.declare([declaration]));
        expect(message).to.contain("Cannot declare collection").and.contain(said);
      });
    }

    it("refuses a collection that was not declared", async () => {
      const unknown = { ...samples, name: "unknown" };
      for (const work of [
        fixture.store.count(unknown, {}),
        fixture.store.write([put(unknown, [sample(1)])]),
      ]) {
        expect((await failure(work)).message).to.contain('Cannot use collection "unknown"');
      }
    });
  });
}
