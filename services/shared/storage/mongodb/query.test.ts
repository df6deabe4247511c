import { expect } from "chai";
import { describe, it } from "mocha";
import type { Document } from "mongodb";
import type { Index } from "../collection.ts";
import { compileCollection, type FieldInfo } from "../declaration.ts";
import { parseQuery, type UntypedQuery } from "../query.ts";
import { LIST_QUERIES, SCAN_QUERIES } from "../suite/list-queries.ts";
import { type SampleQuery, samples } from "../suite/sample.ts";
import { encoderOf } from "../values.ts";
import { readNullsLast } from "./nulls-last.ts";
import { findsOf as listFinds, type MongoQuery, planOfExplain, toMongoQuery } from "./query.ts";

const declared = compileCollection(samples);
const encoders = new Map(declared.fields.map((field) => [field.name, encoderOf("samples", field)]));
/** The indexes as they are created: declared fields and `_id`, each with its direction, and the primary one. */
const INDEXES: readonly (readonly (readonly [name: string, sign: 1 | -1])[])[] = [
  [["_id", 1]],
  ...samples.indexes.map(({ fields, descending = [] }: Index) => [
    ...fields.map((name) => [name, descending.includes(name) ? -1 : 1] as const),
    ["_id", 1] as const,
  ]),
];

/** Every find that a query comes down to, pages across the nulls included. */
async function findsOf(query: SampleQuery): Promise<MongoQuery[]> {
  const finds: MongoQuery[] = [];
  await readNullsLast(
    {
      read: async (request) => {
        finds.push(toMongoQuery(declared, request));
        return [];
      },
      count: async () => 0,
    },
    parseQuery(declared, encoders, query as UntypedQuery),
  );
  return finds;
}

/**
 * MongoDB's own rule for one index to filter and order without reading more: fields that are fixed to a value come
 * first in the index, then the fields of the order (all as in the index, or all the other way), a range only on the first of
 * these. Ranges and lists without a need for order just have to come first.
 */
function isServed({ filter, sort }: { filter: Document; sort: Document }): boolean {
  const names = Object.keys(filter);
  const isFixed = (name: string): boolean => typeof filter[name] !== "object" || filter[name] === null;
  const isList = (name: string): boolean => !isFixed(name) && "$in" in filter[name];
  return INDEXES.some((signed) => {
    const index = signed.map(([name]) => name);
    let at = 0;
    while (at < index.length && names.includes(index[at] as string) && isFixed(index[at] as string)) at++;
    const rest = names.filter((name) => !index.slice(0, at).includes(name));
    const next = index[at];
    if (rest.some((name) => name !== next)) return false;
    // The few rows of a list are sorted in no time.
    if (next !== undefined && isList(next)) return true;
    const order = Object.keys(sort);
    const directions = new Set(order.map((name, i) => sort[name] * (signed[at + i]?.[1] ?? 1)));
    return directions.size <= 1 && order.every((name, i) => index[at + i] === name);
  });
}

describe("mongodb query", () => {
  for (const { name, query } of LIST_QUERIES.filter(({ name }) => name !== "by a range of an index")) {
    it(`is shaped for an index: ${name}`, async () => {
      for (const find of await findsOf(query)) expect(isServed(find), JSON.stringify(find)).to.equal(true);
    });
  }

  it("is not taken for served when it is a scan", async () => {
    for (const query of SCAN_QUERIES) {
      for (const find of await findsOf(query)) expect(isServed(find), JSON.stringify(find)).to.equal(false);
    }
  });

  it("queries by _id for the key, and by fields where an index fixes more", async () => {
    const [byKey] = await findsOf({ filter: { chainId: 8453, dex: "a" } });
    expect(byKey?.filter).to.deep.equal({ dex: "a", _id: { $gte: "48453 ", $lt: "48453!" } });
    const [byIndex] = await findsOf({ filter: { chainId: 8453, dex: "a", blockTime: { gt: 5 } } });
    expect(byIndex?.filter).to.deep.equal({ chainId: 8453, dex: "a", blockTime: { $gt: 5 } });
    const [byOrder] = await findsOf({
      filter: { chainId: 8453 },
      order: [{ field: "tvlUsd", direction: "desc" }],
    });
    expect(byOrder).to.deep.equal({ filter: { chainId: 8453 }, sort: { tvlUsd: -1, _id: -1 } });
  });

  it("names the index to read by, and leaves fields that are in it alone", () => {
    const query = { filter: { chainId: 8453, dex: "a" }, via: ["dex", "price"] } as UntypedQuery;
    const parsed = parseQuery(declared, encoders, query);
    expect(toMongoQuery(declared, parsed).hint).to.equal("by_dex_price");
    expect(toMongoQuery(declared, parsed).filter).to.deep.equal({ chainId: 8453, dex: "a" });
    const byKey = parseQuery(declared, encoders, { ...query, via: declared.key.map(({ name }) => name) });
    expect(toMongoQuery(declared, byKey).hint).to.equal("_id_");
    expect(toMongoQuery(declared, byKey).filter).to.deep.equal({
      dex: "a",
      _id: { $gte: "48453 ", $lt: "48453!" },
    });
    expect(toMongoQuery(declared, { where: [], order: [] })).not.to.have.property("hint");
  });

  it("makes one range of two bounds, and loses none that cannot be joined", async () => {
    const [range] = await findsOf({ filter: { price: { gte: 1, lt: 2 } } });
    expect(range?.filter).to.deep.equal({ price: { $gte: 1, $lt: 2 } });
    const field = declared.byName.get("price") as FieldInfo;
    const where = [1, 2].map((value) => ({ field, op: "gt", value }) as const);
    expect(toMongoQuery(declared, { where, order: [] }).filter).to.deep.equal({
      $and: [{ price: { $gt: 1 } }, { price: { $gt: 2 } }],
    });
  });

  it("spreads a list over the ranges of a key prefix", async () => {
    const [find] = await findsOf({ filter: { chainId: { in: [1, 8453] }, address: { gte: "a" } } });
    const ranges = [{ _id: { $gte: "11 a", $lt: "11!" } }, { _id: { $gte: "48453 a", $lt: "48453!" } }];
    expect(find?.filter).to.deep.equal({ $or: ranges });
    expect(find?.ranges).to.deep.equal(ranges);
    const [nothing] = await findsOf({ filter: { chainId: { in: [] } } });
    expect(nothing?.filter).to.deep.equal({ _id: { $in: [] } });
  });
});

describe("mongodb finds", () => {
  const all = { skip: 0, limit: Number.POSITIVE_INFINITY };
  const [low, high] = [{ _id: { $gte: "11 ", $lt: "11!" } }, { _id: { $gte: "48453 ", $lt: "48453!" } }];
  const filter = { chainId: { in: [8453, 1] } };

  it("read one range of keys each, in the order of the keys", async () => {
    const [up] = await findsOf({ filter });
    expect(listFinds(up as MongoQuery, all)).to.deep.equal([low, high]);
    const order = (["chainId", "address"] as const).map((field) => ({ field, direction: "desc" as const }));
    const [down] = await findsOf({ filter, order });
    expect(down?.sort).to.deep.equal({ _id: -1 });
    expect(listFinds(down as MongoQuery, all)).to.deep.equal([high, low]);
  });

  it("are one for a page, and for another order", async () => {
    const [page] = await findsOf({ filter });
    expect(listFinds(page as MongoQuery, { skip: 0, limit: 5 })).to.deep.equal([page?.filter]);
    expect(listFinds(page as MongoQuery, { ...all, skip: 5 })).to.deep.equal([page?.filter]);
    const [other] = await findsOf({ filter, order: [{ field: "tvlUsd", direction: "asc" }] });
    expect(listFinds(other as MongoQuery, all)).to.deep.equal([other?.filter]);
  });
});

describe("mongodb explain", () => {
  const explained = (winningPlan: Document): Document => ({ queryPlanner: { winningPlan } });
  const filtered = { filtered: true, limited: true };
  const ixscan = (bounds: string): Document => ({
    stage: "FETCH",
    inputStage: { stage: "IXSCAN", indexBounds: { a: [bounds] } },
  });

  it("distinguishes an index from a scan", () => {
    expect(planOfExplain(explained({ stage: "COLLSCAN" }), filtered)).to.equal("scan");
    expect(planOfExplain(explained({ stage: "SORT", inputStage: { stage: "COLLSCAN" } }), filtered)).to.equal(
      "scan",
    );
    expect(planOfExplain(explained(ixscan("[1.0, inf.0]")), filtered)).to.equal("index");
    expect(planOfExplain(explained({ stage: "IDHACK" }), filtered)).to.equal("index");
    expect(planOfExplain(explained({ stage: "EXPRESS_IXSCAN" }), filtered)).to.equal("index");
  });

  it("takes an index that is read whole for a scan, unless the read ends at a limit", () => {
    const whole = explained(ixscan("[MinKey, MaxKey]"));
    expect(planOfExplain(whole, { filtered: false, limited: true })).to.equal("index");
    expect(planOfExplain(whole, { filtered: false, limited: false })).to.equal("scan");
    expect(planOfExplain(whole, { filtered: true, limited: true })).to.equal("scan");
    const sorted = explained({ stage: "SORT", inputStage: ixscan("[MaxKey, MinKey]") });
    expect(planOfExplain(sorted, { filtered: false, limited: true })).to.equal("scan");
  });

  it("looks into every shard and both plan formats", () => {
    const shards = {
      stage: "SHARD_MERGE",
      shards: [{ winningPlan: ixscan("[1, 1]") }, { winningPlan: { stage: "COLLSCAN" } }],
    };
    expect(planOfExplain(explained(shards), filtered)).to.equal("scan");
    expect(
      planOfExplain(explained({ queryPlan: ixscan("[1, 1]"), slotBasedPlan: { stages: "" } }), filtered),
    ).to.equal("index");
  });

  it("does not guess", () => {
    expect(planOfExplain({}, filtered)).to.equal("unknown");
    expect(planOfExplain({ ok: 1, queryPlanner: {} }, filtered)).to.equal("unknown");
  });
});
