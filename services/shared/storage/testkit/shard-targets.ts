import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { Collection } from "../collection.ts";
import { type CompiledCollection, compileCollection, type FieldInfo } from "../declaration.ts";
import { documentFilter, documentOf, type Entry, keysFilter } from "../mongodb/documents.ts";
import { toMongoQuery } from "../mongodb/query.ts";
import { parseSelection } from "../query.ts";
import { encoderOf } from "../values.ts";
import { type Doc, fixedFields } from "./mongod/documents.ts";

const SHARDED = { sharded: true };

/** A value of a field's type: few different ones, so that lists and ranges meet. */
const VALUES: Record<FieldInfo["type"], fc.Arbitrary<unknown>> = {
  text: fc.constantFrom("", "a", "0xab", "b c"),
  hex: fc.constantFrom("", "0xab", "0xabcd"),
  int: fc.integer({ min: -3, max: 90_000_000 }),
  float: fc.double({ noNaN: true, noDefaultInfinity: true }),
  bool: fc.boolean(),
  bigint: fc.bigInt({ min: -9n, max: 9n }),
  json: fc.constant([1]),
};

const anyValueOf = (field: FieldInfo): fc.Arbitrary<unknown> => VALUES[field.type];

function conditionOf(field: FieldInfo): fc.Arbitrary<unknown> {
  const value = anyValueOf(field);
  return fc.oneof(
    { arbitrary: value, weight: 5 },
    fc.array(value, { minLength: 1, maxLength: 3 }).map((list) => ({ in: list })),
    value.map((bound) => ({ gte: bound })),
    fc.tuple(value, value).map(([low, high]) => ({ gt: low, lt: high })),
  );
}

/** A filter on the leading fields of the key or of an index, as queries have, and on any other fields. */
function filtersOf(declared: CompiledCollection): fc.Arbitrary<Record<string, unknown>> {
  const filterable = declared.fields.filter((field) => field.type !== "json");
  const lists = [declared.key.map((field) => field.name), ...declared.indexes.map((index) => index.fields)];
  const leading = fc
    .tuple(fc.constantFrom(...lists), fc.nat({ max: 5 }))
    .map(([names, count]) => names.slice(0, count));
  const other = fc.subarray(
    filterable.map((field) => field.name),
    { maxLength: 2 },
  );
  const queries = fc.tuple(leading, other).chain(([first, more]) => {
    const names = [...new Set([...first, ...more])];
    return fc.record(
      Object.fromEntries(
        names.map((name) => [name, conditionOf(declared.byName.get(name) as FieldInfo)] as const),
      ),
    );
  });
  // Of a wide row hardly a query names all of the shard key by chance.
  const targeted = fc.record(
    Object.fromEntries(
      declared.shardKey.map((name) => [name, anyValueOf(declared.byName.get(name) as FieldInfo)] as const),
    ),
  );
  return fc.oneof({ arbitrary: queries, weight: 9 }, { arbitrary: targeted, weight: 1 });
}

function rowsOf(declared: CompiledCollection): fc.Arbitrary<Record<string, unknown>> {
  return fc.record(
    Object.fromEntries(declared.fields.map((field) => [field.name, anyValueOf(field)] as const)),
  );
}

/** The leading fields of the shard key that are fixed: a router needs the first to know of any shard. */
function leadingFixed(declared: CompiledCollection, fixed: ReadonlySet<string>): string[] {
  const end = declared.shardKey.findIndex((name) => !fixed.has(name));
  return declared.shardKey.slice(0, end < 0 ? undefined : end);
}

/**
 * What a router of a sharded cluster needs of every filter of these collections. `partial`: those whose key does not
 * hold the whole shard key, with the fields that reads by key are found by.
 */
export function describeShardTargets(
  title: string,
  { collections, partial = {} }: { collections: readonly Collection[]; partial?: Record<string, string[]> },
): void {
  describe(`shards of ${title}`, () => {
    for (const collection of collections) {
      const declared = compileCollection(collection);
      const encoders = new Map(declared.fields.map((field) => [field.name, encoderOf(declared.name, field)]));
      const entry: Entry = { declared, encoders, duplicates: { last: 0 } };

      it(`are named by every filter of ${declared.name} that knows them`, () => {
        let whole = 0;
        fc.assert(
          fc.property(filtersOf(declared), (filter) => {
            const selection = parseSelection(declared, encoders, { filter });
            const query = toMongoQuery(declared, { ...selection, order: [], ...SHARDED });
            const known = new Set(Object.keys(filter).filter((name) => typeof filter[name] !== "object"));
            const wanted = leadingFixed(declared, known);
            expect(leadingFixed(declared, fixedFields(query.filter))).to.include.members(wanted);
            if (wanted.length === declared.shardKey.length) whole++;
          }),
          { numRuns: 200 },
        );
        expect(whole, "filters with a whole shard key").to.be.greaterThan(0);
      });

      it(`are named by reads and removals of ${declared.name} by key, and by its replacements`, () => {
        fc.assert(
          fc.property(rowsOf(declared), rowsOf(declared), (row, other) => {
            const byKey = leadingFixed(declared, fixedFields(keysFilter(entry, [row], SHARDED)));
            expect(byKey).to.deep.equal(partial[declared.name] ?? declared.shardKey);
            const several: Doc = keysFilter(entry, [row, other], SHARDED);
            expect(Object.keys(several)).to.include.members(byKey);
            const document = documentOf(entry, row);
            const replaced = fixedFields(documentFilter(entry, document, SHARDED));
            expect(leadingFixed(declared, replaced)).to.deep.equal(declared.shardKey);
          }),
          { numRuns: 30 },
        );
      });
    }
  });
}
