import { after, before, describe, it } from "mocha";
import { expectSearch, Planner } from "../test/kit/planner.ts";
import { address, CHAIN_ID } from "../test/kit/rows.ts";
import {
  gauges,
  lpAnchors,
  lpEvents,
  lpPositions,
  v2LargeSwaps,
  v2Rollups,
  walletRequests,
} from "./v2-collections.ts";

describe("v2 collections", () => {
  let planner: Planner;
  before(() => {
    planner = new Planner();
  });
  after(() => planner.close());

  it("serve windows of many pools, positions and their past without sorting", () => {
    const poolAddress = address(0x900);
    const position = { chainId: CHAIN_ID, wallet: address(1), poolAddress };
    const start = { gte: 0, lt: 86_400 };
    const plans: Record<string, string[]> = {
      windows: planner.explain(v2Rollups, {
        filter: { chainId: CHAIN_ID, poolAddress: { in: [poolAddress, address(0x901)] }, span: 3_600, start },
      }),
      largest: planner.explain(v2LargeSwaps, { filter: { chainId: CHAIN_ID, poolAddress, start } }),
      positions: planner.explain(lpPositions, { filter: { chainId: CHAIN_ID, wallet: address(1) } }),
      positionAt: planner.explain(lpEvents, {
        filter: { ...position, time: { lt: 9 } },
        order: [
          { field: "time", direction: "desc" },
          { field: "blockNumber", direction: "desc" },
          { field: "logIndex", direction: "desc" },
        ],
        limit: 1,
      }),
      firstOfPosition: planner.explain(lpEvents, {
        filter: position,
        order: [{ field: "time", direction: "asc" }],
        limit: 1,
      }),
      requested: planner.explain(walletRequests, {
        filter: { chainId: CHAIN_ID },
        order: [{ field: "requestedAtMs", direction: "asc" }],
        limit: 1,
      }),
      anchors: planner.explain(lpAnchors, { filter: { chainId: CHAIN_ID, wallet: address(1) } }),
      gaugesBefore: planner.explain(gauges, { filter: { chainId: CHAIN_ID, createdBlock: { lt: 9 } } }),
      gaugesBeyond: planner.explain(gauges, { filter: { chainId: CHAIN_ID, createdBlock: { gt: 9 } } }),
      eventsBeyond: planner.explain(lpEvents, { filter: { chainId: CHAIN_ID, blockNumber: { gt: 9 } } }),
    };
    for (const [name, plan] of Object.entries(plans)) expectSearch(plan, name);
  });
});
