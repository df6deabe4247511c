import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { compileCollection } from "../../shared/storage/declaration.ts";
import { toMongoQuery } from "../../shared/storage/mongodb/query.ts";
import { put } from "../../shared/storage/port.ts";
import { parseQuery } from "../../shared/storage/query.ts";
import { openDatabase } from "../../shared/storage/sqlite/driver.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import { encoderOf } from "../../shared/storage/values.ts";
import { expectSearch, Planner } from "../test/kit/planner.ts";
import { address, CHAIN_ID } from "../test/kit/rows.ts";
import { COLLECTIONS, poolEvents, poolListings, poolUsers, priceLinks, rollups } from "./collections.ts";
import { completeOrder } from "./pool-list/pool-sets.ts";
import { NEWEST_FIRST } from "./queries.ts";

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

  it("find a pool's last swap without sorting", () => {
    const filter = { chainId: CHAIN_ID, poolAddress: address(1), kind: "swap" };
    expectSearch(planner.explain(poolEvents, { filter, order: NEWEST_FIRST, limit: 1 }), "last swap");
  });

  it("serve the pool lists in the order of any column without sorting", () => {
    for (const field of COLUMNS) {
      for (const direction of ["asc", "desc"] as const) {
        const order = completeOrder([{ field, direction }]);
        const plan = planner.explain(poolListings, {
          filter: { chainId: CHAIN_ID, family: "dexb" },
          order,
          skip: 1_000,
          limit: 100,
        });
        expectSearch(plan, `${field} ${direction}`);
      }
    }
    const filter = { chainId: CHAIN_ID, family: "dexb" };
    expectSearch(planner.explain(poolListings, { filter, order: completeOrder([]), limit: 100 }), "newest");
  });

  it("count and skip pools of a large group without looking them up, in the order of any other column", () => {
    for (const field of COLUMNS.filter((column) => column !== "poolAddress" && column !== "fee")) {
      const plan = planner.explain(poolListings, {
        filter: { chainId: CHAIN_ID, family: "dexb", fee: 500 },
        via: ["chainId", "family", field],
        order: completeOrder([{ field, direction: "asc" }]),
        skip: 1_000,
        limit: 1,
        fields: [field, "poolAddress"],
      });
      expectSearch(plan, field);
      expect(plan[0]).to.contain("COVERING INDEX");
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
      lastLink: planner.explain(priceLinks, {
        filter: { chainId: CHAIN_ID, token: address(0x10), blockNumber: { lte: 9 } },
        order: [{ field: "blockNumber", direction: "desc" }],
        limit: 1,
      }),
      linksBeyond: planner.explain(priceLinks, {
        filter: { chainId: CHAIN_ID, blockNumber: { gt: 9 } },
        order: [{ field: "blockNumber", direction: "asc" }],
      }),
      lastEventOfAll: planner.explain(poolEvents, {
        filter: { chainId: CHAIN_ID, blockNumber: { lte: 9 } },
        order: [
          { field: "blockNumber", direction: "desc" },
          { field: "logIndex", direction: "desc" },
        ],
        limit: 1,
      }),
      eventsBeyond: planner.explain(poolEvents, { filter: { chainId: CHAIN_ID, blockNumber: { gt: 9 } } }),
      swapsOfMinute: planner.explain(poolEvents, {
        filter: { ...pool, time: { gte: 0, lt: 60 }, kind: "swap" },
        order: [
          { field: "time", direction: "asc" },
          { field: "blockNumber", direction: "asc" },
          { field: "logIndex", direction: "asc" },
        ],
      }),
      pageOfUsers: planner.explain(poolUsers, {
        filter: { ...pool, user: { gt: address(0xa) } },
        limit: 2_000,
        fields: ["user", "lastMinute"],
      }),
    };
    for (const [name, plan] of Object.entries(plans)) expectSearch(plan, name);
  });

  it("find users by their key alone", async () => {
    const filter = { chainId: CHAIN_ID, poolAddress: address(0x900), user: { gt: address(0xa) } };
    const [page] = planner.explain(poolUsers, { filter, limit: 2_000, fields: ["user", "lastMinute"] });
    expect(page).to.match(
      /^SEARCH pool_users USING PRIMARY KEY \(chainId=\? AND poolAddress=\? AND user>\?\)/,
    );
    const key = { chainId: CHAIN_ID, poolAddress: address(0x900), user: address(0xa) };
    const { packed, json } = planner.explainKeys(poolUsers, key);
    const search = /^SEARCH row USING PRIMARY KEY \(chainId=\? AND poolAddress=\? AND user=\?\)/;
    expect(packed.join("; ")).to.contain("RECURSIVE STEP");
    expect(packed.at(-1)).to.match(search);
    expect(json[0]).to.contain("VIRTUAL TABLE");
    expect(json[1]).to.match(search);
    // MongoDB: a range of `_id`, and nothing to look at beside it.
    const declared = compileCollection(poolUsers);
    const encoders = new Map(
      declared.fields.map((field) => [field.name, encoderOf("pool_users", field)] as const),
    );
    const { filter: found, sort } = toMongoQuery(declared, parseQuery(declared, encoders, { filter }));
    expect([Object.keys(found), sort]).to.deep.equal([["_id"], { _id: 1 }]);
  });

  it("lose the second index of users in a file that an earlier version has written", async () => {
    const dir = await mkdtemp(join(tmpdir(), "former-index-"));
    const path = join(dir, "evm-dex.sqlite");
    const { previousUsers: _, ...fields } = poolEvents.fields;
    const { formerIndexes, ...users } = poolUsers;
    const earlierUsers = { ...users, indexes: formerIndexes ?? [] };
    const earlier = COLLECTIONS.map((each) =>
      each === poolUsers ? earlierUsers : each === poolEvents ? { ...each, fields } : each,
    ) as typeof COLLECTIONS;
    const indexesOf = async () => {
      const db = await openDatabase(path);
      const rows = db
        .prepare("SELECT name FROM sqlite_schema WHERE tbl_name = 'pool_users' AND type = 'index'")
        .all();
      db.close();
      return (rows as { name: string }[])
        .map(({ name }) => name)
        .filter((name) => !name.startsWith("sqlite_"));
    };
    const user = { chainId: CHAIN_ID, poolAddress: address(0x900), user: address(0xa), lastMinute: 60 };
    const old = await openSqliteStore({ path });
    try {
      await old.declare(earlier);
      await old.write([put(earlierUsers, [user])]);
      expect(await indexesOf()).to.deep.equal(["pool_users_by_chainId_poolAddress_lastMinute"]);
      const store = await openSqliteStore({ path });
      await store.declare(COLLECTIONS);
      expect(await indexesOf()).to.deep.equal([]);
      expect(await store.find(poolUsers, {})).to.deep.equal([user]);
      // A service of the earlier version that runs meanwhile.
      const { chainId, poolAddress } = user;
      const filter = { chainId, poolAddress, lastMinute: { in: [0, 60] } };
      const order = [{ field: "lastMinute", direction: "asc" }] as const;
      expect(await old.find(earlierUsers, { filter, order })).to.deep.equal([user]);
      await store.close();
    } finally {
      await old.close();
      await rm(dir, { recursive: true, force: true });
    }
  });

  it("show a sort where an order has no index", () => {
    const plan = planner.explain(poolListings, {
      filter: { chainId: CHAIN_ID, family: "dexb" },
      order: [{ field: "cells", direction: "asc" }],
    });
    expect(plan.some((step) => step.includes("TEMP B-TREE"))).to.equal(true);
  });
});
