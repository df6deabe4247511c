import { expect } from "chai";
import Libsql from "libsql";
import { after, before, describe, it } from "mocha";
import { compileCollection } from "../../shared/storage/declaration.ts";
import type { Collection, OrderBy, Query, RowOf } from "../../shared/storage/port.ts";
import { parseQuery } from "../../shared/storage/query.ts";
import { createSql, SQLITE_DIALECT, selectSql } from "../../shared/storage/sqlite-sql.ts";
import { encoderOf } from "../../shared/storage/values.ts";
import { address, CHAIN_ID } from "../test/rows.ts";
import { COLLECTIONS, poolEvents, poolListings, poolUsers, rollups } from "./collections.ts";

/** How SQLite would answer, in its own words. */
class Planner {
  readonly #database = new Libsql(":memory:");

  constructor() {
    for (const collection of COLLECTIONS) {
      for (const sql of createSql(compileCollection(collection))) this.#database.exec(sql);
    }
  }

  explain<C extends Collection>(from: C, query: Query<RowOf<C>>): string[] {
    const declared = compileCollection(from);
    const encoders = new Map(
      declared.fields.map((field) => [field.name, encoderOf(declared.name, field, SQLITE_DIALECT)] as const),
    );
    const { text, params } = selectSql(declared, parseQuery(declared, encoders, query as never));
    const steps = this.#database.prepare(`EXPLAIN QUERY PLAN ${text}`).all(params as never) as {
      detail: string;
    }[];
    return steps.map(({ detail }) => detail);
  }

  close(): void {
    this.#database.close();
  }
}

/** One search of an index, in the order asked: nothing is sorted, nothing read through. */
function expectSearch(plan: readonly string[], title: string): void {
  expect(plan, title).to.have.length(1);
  expect(plan[0], title).to.match(/^SEARCH /);
}

const COLUMNS = [
  "dexAddress",
  "dexName",
  "poolAddress",
  "token0Address",
  "token0Symbol",
  "token0Decimals",
  "token1Address",
  "token1Symbol",
  "token1Decimals",
  "createdAt",
  "fee",
  "tickSpacing",
] as const;

describe("evm-dex collections", () => {
  let planner: Planner;
  before(() => {
    planner = new Planner();
  });
  after(() => planner.close());

  it("serve the pool lists in the order of any column without sorting, with and without a token", () => {
    for (const field of COLUMNS) {
      for (const direction of ["asc", "desc"] as const) {
        for (const token of ["", address(0x10)]) {
          const ties: OrderBy<RowOf<typeof poolListings>>[] =
            field === "poolAddress" ? [] : [{ field: "poolAddress", direction }];
          const plan = planner.explain(poolListings, {
            filter: { chainId: CHAIN_ID, family: "dexb", token },
            order: [{ field, direction }, ...ties],
            skip: 1_000,
            limit: 100,
          });
          expectSearch(plan, `${field} ${direction} of "${token}"`);
        }
      }
    }
  });

  it("serve windows, closes, states and users of a pool without sorting", () => {
    const pool = { chainId: CHAIN_ID, poolAddress: address(0x900) };
    const plans: Record<string, string[]> = {
      window: planner.explain(rollups, { filter: { ...pool, span: 60, start: { gte: 0, lt: 3_600 } } }),
      closeBefore: planner.explain(rollups, {
        filter: { ...pool, span: 60, start: { lt: 3_600 } },
        order: [{ field: "start", direction: "desc" }],
        limit: 1,
      }),
      lastEvent: planner.explain(poolEvents, {
        filter: { ...pool, time: { lte: 9 }, blockNumber: { lte: 9 } },
        order: [
          { field: "time", direction: "desc" },
          { field: "blockNumber", direction: "desc" },
          { field: "logIndex", direction: "desc" },
        ],
        limit: 1,
      }),
      eventsBeyond: planner.explain(poolEvents, { filter: { chainId: CHAIN_ID, blockNumber: { gt: 9 } } }),
      usersOfBucket: planner.explain(poolUsers, {
        filter: { ...pool, lastMinute: { gte: 0, lt: 60 } },
        order: [{ field: "lastMinute", direction: "asc" }],
      }),
    };
    for (const [name, plan] of Object.entries(plans)) expectSearch(plan, name);
  });

  it("would be noticed to sort: an order without an index is one", () => {
    const plan = planner.explain(poolListings, {
      filter: { chainId: CHAIN_ID, family: "dexb", token: "" },
      order: [{ field: "createdBlock", direction: "asc" }],
    });
    expect(plan.some((step) => step.includes("TEMP B-TREE"))).to.equal(true);
  });
});
