import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { expectSearch, Planner } from "../test/kit/planner.ts";
import { address, CHAIN_ID } from "../test/kit/rows.ts";
import { poolEvents, poolListings, poolUsers, priceLinks, rollups } from "./collections.ts";
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
      usersOfMinutes: planner.explain(poolUsers, {
        filter: { ...pool, lastMinute: { in: [0, 60, 600] } },
        order: [{ field: "lastMinute", direction: "asc" }],
      }),
      usersOfBucket: planner.explain(poolUsers, {
        filter: { ...pool, lastMinute: { gte: 0, lt: 60 } },
        order: [{ field: "lastMinute", direction: "asc" }],
      }),
    };
    for (const [name, plan] of Object.entries(plans)) expectSearch(plan, name);
  });

  it("show a sort where an order has no index", () => {
    const plan = planner.explain(poolListings, {
      filter: { chainId: CHAIN_ID, family: "dexb" },
      order: [{ field: "cells", direction: "asc" }],
    });
    expect(plan.some((step) => step.includes("TEMP B-TREE"))).to.equal(true);
  });
});
