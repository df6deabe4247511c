import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import type { Hex } from "../../../../../shared/chain/evm/port.ts";
import { put, type Store } from "../../../../../shared/storage/port.ts";
import { checkpoints, poolStates, pools } from "../../../../store/collections.ts";
import { depsOf, refusalOf, rowsOf } from "../../../../test/answers.ts";
import { address, checkpointRow, openTestStore, poolRow, poolStateRow } from "../../../../test/rows.ts";
import { endpoint } from "./pool.endpoint.ts";
import { clonesPoolHandler } from "./pool.handler.ts";

const [PANCAKE, SUSHI, UNISWAP] = [address(0x901), address(0x902), address(0x903)];

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
      ]),
      put(poolStates, [
        poolStateRow({ poolAddress: PANCAKE }),
        poolStateRow(onEthereum),
        poolStateRow({ poolAddress: UNISWAP }),
      ]),
    ]);
  });
  after(() => store.close());

  const ask = (chain_id: 1 | 8453, pool_address: Hex) => ({ chain_id, pool_address });

  it("tells of a pool on either chain, and whose it is", async () => {
    const handler = clonesPoolHandler(depsOf(store));
    const [pancake] = await rowsOf(endpoint, handler, ask(8453, PANCAKE));
    expect(pancake).to.include({
      dexName: "PancakeSwap V3",
      feeTier: 2_500,
      currentTick: 5,
      currentLiquidity: "1000000000000000000",
      currentSqrtPriceX96: `${2n ** 96n}`,
    });
    expect(pancake?.currentPoolPrice).to.be.closeTo(1e12, 1);
    expect(pancake?.feeApr, "nobody swapped, and nothing has a price").to.deep.equal(Array(6).fill(null));
    const [sushi] = await rowsOf(endpoint, handler, ask(1, SUSHI));
    expect(sushi).to.include({ dexName: "SushiSwap V3", feeTier: 3_000 });
  });

  it("knows no pool of another family, or of the other chain", async () => {
    const handler = clonesPoolHandler(depsOf(store));
    for (const params of [ask(8453, UNISWAP), ask(1, PANCAKE), ask(8453, SUSHI), ask(1, address(1))])
      expect(await refusalOf(handler, params), params.pool_address).to.equal("not_found");
  });
});
