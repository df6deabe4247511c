import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import type { Hex } from "../../../../../shared/evm/port.ts";
import { put, type Store } from "../../../../../shared/storage/port.ts";
import { checkpoints, poolFees, poolStates, pools } from "../../../../store/collections.ts";
import { depsOf, refusalOf, rowsOf } from "../../../../test/kit/answers.ts";
import {
  address,
  CHAIN_ID,
  checkpointRow,
  openTestStore,
  poolRow,
  poolStateRow,
} from "../../../../test/kit/rows.ts";
import { endpoint } from "./pool.endpoint.ts";
import { dexaV3PoolHandler } from "./pool.handler.ts";

const [SLIPSTREAM, UNISWAP, INACTIVE, V2] = [0x901, 0x902, 0x903, 0x904].map(address) as [Hex, Hex, Hex, Hex];
const slipstream = {
  family: "dexa",
  dexName: "Aerodrome Slipstream",
  protocol: "slipstream",
  fee: 500,
  tickSpacing: 100,
};

describe("/evm/dexa/v3/pool", () => {
  let store: Store;
  before(async () => {
    store = await openTestStore();
    await store.write([
      put(checkpoints, [checkpointRow()]),
      put(pools, [
        poolRow({ ...slipstream, poolAddress: SLIPSTREAM }),
        poolRow({ ...slipstream, poolAddress: INACTIVE }),
        poolRow({ poolAddress: UNISWAP }),
        poolRow({ poolAddress: V2, family: "dexa", dexName: "Aerodrome V2", protocol: "aerodrome-v2" }),
      ]),
      put(
        poolStates,
        [SLIPSTREAM, UNISWAP, INACTIVE, V2].map((poolAddress) => poolStateRow({ poolAddress })),
      ),
      put(poolFees, [{ chainId: CHAIN_ID, poolAddress: SLIPSTREAM, fee: 720, block: 180 }]),
    ]);
  });
  after(() => store.close());

  const query = (pool_address: Hex) => ({ chain_id: 8453 as const, pool_address });

  it("returns a Slipstream pool, with the fee in force", async () => {
    const handler = dexaV3PoolHandler(depsOf(store));
    const [row] = await rowsOf(endpoint, handler, query(SLIPSTREAM));
    expect(row).to.include({ feeTier: 720, tickSpacing: 100, currentTick: 5 });
    expect(row).not.to.have.any.keys("feeApr", "dexName");
    const [inactive] = await rowsOf(endpoint, handler, query(INACTIVE));
    expect(inactive, "that of its tick spacing, before its own is read").to.include({ feeTier: 500 });
  });

  it("finds no pool of another family, nor one of v2", async () => {
    const handler = dexaV3PoolHandler(depsOf(store));
    for (const pool of [UNISWAP, V2, address(1)])
      expect(await refusalOf(handler, query(pool)), pool).to.equal("not_found");
  });
});
