import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import type { Hex } from "../../../../../shared/evm/port.ts";
import { put, type Store } from "../../../../../shared/storage/port.ts";
import { EMPTY_STATE, writeState } from "../../../../protocols/v3/state.ts";
import { checkpoints, inactivePools, poolStates, pools } from "../../../../store/collections.ts";
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
import { clonesPoolHandler } from "./pool.handler.ts";

const [PANCAKE, SUSHI, UNISWAP, INACTIVE] = [0x901, 0x902, 0x903, 0x904].map(address) as [Hex, Hex, Hex, Hex];

describe("/evm/clones/v3/pool", () => {
  let store: Store;
  before(async () => {
    store = await openTestStore();
    const onEthereum = { chainId: 1, poolAddress: SUSHI };
    await store.write([
      put(checkpoints, [checkpointRow(), checkpointRow({ chainId: 1 })]),
      put(pools, [
        poolRow({
          poolAddress: PANCAKE,
          family: "clones",
          dexName: "PancakeSwap V3",
          protocol: "pancake-v3",
          fee: 2_500,
        }),
        poolRow({ ...onEthereum, family: "clones", dexName: "SushiSwap V3" }),
        poolRow({ poolAddress: UNISWAP }),
        poolRow({ poolAddress: INACTIVE, family: "clones", createdBlock: 3, createdAt: 1_600_000_000 }),
      ]),
      put(
        inactivePools,
        [INACTIVE, PANCAKE].map((poolAddress) => {
          const state = writeState({ ...EMPTY_STATE, sqrtPriceX96: 3n ** 60n, liquidity: 7n, tick: -8 });
          const at = { chainId: CHAIN_ID, poolAddress, balanceBlock: 99, priced: false };
          return { ...at, state, balance0: 1n, balance1: 2n };
        }),
      ),
      put(poolStates, [
        poolStateRow({ poolAddress: PANCAKE }),
        poolStateRow(onEthereum),
        poolStateRow({ poolAddress: UNISWAP }),
      ]),
    ]);
  });
  after(() => store.close());

  const query = (chain_id: 1 | 8453, pool_address: Hex) => ({ chain_id, pool_address });

  it("returns a pool on either chain, and its DEX", async () => {
    const handler = clonesPoolHandler(depsOf(store));
    const [pancake] = await rowsOf(endpoint, handler, query(8453, PANCAKE));
    expect(pancake).to.include({
      dexName: "PancakeSwap V3",
      feeTier: 2_500,
      currentTick: 5,
      currentLiquidity: "1000000000000000000",
      currentSqrtPriceX96: `${2n ** 96n}`,
    });
    expect(pancake?.currentPoolPrice).to.be.closeTo(1e12, 1);
    expect(pancake?.feeApr, "no swaps, and nothing has a price").to.deep.equal(Array(6).fill(null));
    const [sushi] = await rowsOf(endpoint, handler, query(1, SUSHI));
    expect(sushi).to.include({ dexName: "SushiSwap V3", feeTier: 3_000 });
  });

  it("returns the state of an inactive pool, and nothing from before the index", async () => {
    const [row] = await rowsOf(endpoint, clonesPoolHandler(depsOf(store)), query(8453, INACTIVE));
    expect(row).to.include({
      currentTick: -8,
      currentLiquidity: "7",
      currentSqrtPriceX96: `${3n ** 60n}`,
      poolTvlUsd: null,
    });
    // The index is 400 seconds old.
    expect(row?.swapCount).to.deep.equal([0, null, null, null, null, null]);
  });

  it("finds no pool of another family, or of the other chain", async () => {
    const handler = clonesPoolHandler(depsOf(store));
    for (const params of [query(8453, UNISWAP), query(1, PANCAKE), query(8453, SUSHI), query(1, address(1))])
      expect(await refusalOf(handler, params), params.pool_address).to.equal("not_found");
  });
});
