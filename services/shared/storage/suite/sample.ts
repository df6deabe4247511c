import fc from "fast-check";
import { collection, type RowOf } from "../collection.ts";
import type { Query, Store } from "../port.ts";

/** Every field type, with and without null; a key of two fields and one of each kind of index. */
export const samples = collection({
  name: "samples",
  fields: {
    chainId: "int",
    address: "text",
    dex: "text",
    symbol: "text?",
    owner: "hex",
    txHash: "hex?",
    blockTime: "int",
    tick: "int?",
    tvlUsd: "float?",
    price: "float",
    verified: "bool",
    stable: "bool?",
    liquidity: "bigint",
    amount: "bigint?",
    tags: "json",
    note: "json?",
  },
  key: ["chainId", "address"],
  indexes: [
    { fields: ["dex", "blockTime"] },
    { fields: ["chainId", "tvlUsd"] },
    { fields: ["blockTime"] },
    { fields: ["amount"] },
    { fields: ["tick", "tvlUsd"], carries: ["verified", "stable"] },
    { fields: ["dex", "price"], descending: ["price"] },
    { fields: ["owner", "tick"], carries: ["txHash"] },
  ],
  shardKey: ["chainId", "address"],
});

export type Sample = RowOf<typeof samples>;
export type SampleQuery = Query<Sample>;

/** Of several lengths, in their order. */
export const HEX: readonly string[] = ["", "0x00", "0x0001", "0x09", "0x0a", `0x${"ab".repeat(32)}`, "0xff"];

/** A plain row, to be changed where a test needs it. */
export function sample(i: number, changes: Partial<Sample> = {}): Sample {
  return {
    chainId: 8453,
    address: `0x${i.toString(16).padStart(40, "0")}`,
    dex: `dex ${i % 3}`,
    symbol: `T${i}`,
    owner: HEX[i % HEX.length] as string,
    txHash: null,
    blockTime: 1_700_000_000 + i,
    tick: i - 50,
    tvlUsd: i * 1.5,
    price: 1 / (i + 1),
    verified: i % 2 === 0,
    stable: null,
    liquidity: BigInt(i) * 10n ** 20n,
    amount: -BigInt(i),
    tags: [`tag ${i}`],
    note: null,
    ...changes,
  };
}

/** Text as chains and attackers write it: no engine may take any of it for syntax, or cut or reorder it. */
export const ODD_TEXTS: readonly string[] = [
  "",
  " ",
  "!",
  "a b",
  "a",
  "a!",
  "a\0b",
  "a\u0001b",
  "\0",
  "ab",
  "A",
  "$where",
  "$gt",
  "a.b",
  "{ $ne: null }",
  '"; DROP TABLE "samples"; --',
  "'",
  "%_?",
  "é",
  "e\u0301",
  "日本",
  "\uFFFD",
  "\u{1F680}",
  "null",
  "0",
  "-1",
];

const nullable = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.option(values, { nil: null, freq: 3 });
const LIMIT = 2n ** 256n;

/** Few different values, so that ties, nulls and hits are frequent. */
const VALUES = {
  chainId: fc.constantFrom(1, 8453, -7),
  address: fc.constantFrom(...ODD_TEXTS),
  dex: fc.constantFrom("uni", "pancake", "$dex"),
  symbol: nullable(fc.constantFrom(...ODD_TEXTS)),
  owner: fc.constantFrom(...HEX),
  txHash: nullable(fc.constantFrom(...HEX)),
  blockTime: fc.constantFrom(0, 1, 1_700_000_000, 5_000_000_000, Number.MAX_SAFE_INTEGER),
  tick: nullable(fc.constantFrom(-887_272, -1, 0, 1, 887_272, Number.MIN_SAFE_INTEGER)),
  tvlUsd: nullable(fc.constantFrom(-1.5, 0, 1, 1.1, 0.1 + 0.2, 1e300, 5e-324)),
  price: fc.constantFrom(0, 1 / 3, -2.5, 1e21),
  verified: fc.boolean(),
  stable: nullable(fc.boolean()),
  liquidity: fc.constantFrom(0n, 1n, 15n, 16n, 2n ** 64n, 2n ** 128n - 1n, LIMIT),
  amount: nullable(fc.constantFrom(-LIMIT, -(2n ** 64n), -16n, -15n, -1n, 0n, 1n, 2n ** 63n)),
};
const JSON_VALUES = fc.constantFrom<unknown>(
  { $set: { a: 1 } },
  [],
  [1, "a", null, [true]],
  { "a.b": 0.1, c: "a\0b" },
  "text",
  0,
);

export const anySample: fc.Arbitrary<Sample> = fc.record({
  ...VALUES,
  tags: JSON_VALUES,
  note: nullable(JSON_VALUES),
});

type Filterable = keyof typeof VALUES;
const FILTERABLE = Object.keys(VALUES) as Filterable[];

function conditionOn(field: Filterable): fc.Arbitrary<unknown> {
  const value: fc.Arbitrary<unknown> = VALUES[field];
  const bound = value.filter((each) => each !== null);
  return fc.oneof(
    { weight: 3, arbitrary: value },
    fc.record({ in: fc.array(value, { maxLength: 5 }) }),
    fc.oneof(
      fc.record({ gt: bound }),
      fc.record({ gte: bound }),
      fc.record({ lt: bound }),
      fc.record({ lte: bound }),
      fc.record({ gte: bound, lt: bound }),
      fc.record({ gt: bound, lte: bound }),
    ),
  );
}

const anyFilter = fc
  .uniqueArray(fc.constantFrom(...FILTERABLE), { maxLength: 3 })
  .chain((fields) => fc.record(Object.fromEntries(fields.map((field) => [field, conditionOn(field)]))));

const anyOrder = fc.uniqueArray(
  fc.record({
    field: fc.constantFrom(...FILTERABLE),
    direction: fc.constantFrom("asc" as const, "desc" as const),
  }),
  { maxLength: 4, selector: (term) => term.field },
);

export const anyQuery: fc.Arbitrary<SampleQuery> = fc.record(
  {
    filter: fc.oneof({ weight: 1, arbitrary: fc.constant({}) }, { weight: 2, arbitrary: anyFilter }),
    anyOf: fc.array(anyFilter, { minLength: 1, maxLength: 3 }),
    via: fc.constantFrom(samples.key, ...samples.indexes.map(({ fields }) => fields)),
    order: anyOrder,
    skip: fc.integer({ min: 0, max: 60 }),
    limit: fc.integer({ min: 0, max: 60 }),
    fields: fc.uniqueArray(fc.constantFrom(...(Object.keys(samples.fields) as (keyof Sample)[])), {
      minLength: 1,
    }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<SampleQuery>;

/** All rows, in key order. */
export function allOf(store: Store): Promise<Sample[]> {
  return store.find(samples, {});
}
