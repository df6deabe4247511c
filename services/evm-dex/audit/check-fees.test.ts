import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { put, type Store } from "../../shared/storage/port.ts";
import { poolFees, pools } from "../store/collections.ts";
import { address, CHAIN_ID, openTestStore, poolRow } from "../test/kit/rows.ts";
import { checkFee } from "./check-fees.ts";
import { isDifference } from "./finding.ts";
import type { AuditRpc } from "./rpc.ts";
import type { PoolScope } from "./scope.ts";

const pool = poolRow({ poolAddress: address(1), protocol: "slipstream", createdBlock: 50 });

describe("checkFee of a pool without a row", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  /** Of the rules about the row, which are broken. */
  async function broken(
    others: number,
    { read = 0, balanceBlock = 100 as number | null, fromBlock = 10 } = {},
  ): Promise<number> {
    const rows = Array.from({ length: others }, (_, n) => ({ ...pool, poolAddress: address(100 + n) }));
    const fixed = { ...pool, poolAddress: address(2), protocol: "uniswap-v3" };
    await store.write([
      put(pools, [pool, fixed, ...rows]),
      put(
        poolFees,
        rows.slice(0, read).map(({ poolAddress }) => ({ chainId: CHAIN_ID, poolAddress, fee: 1, block: 99 })),
      ),
    ]);
    const state = balanceBlock === null ? undefined : { balanceBlock };
    const scope = { store, pool, state, checkpoint: { blockNumber: 100, fromBlock } };
    const findings = await checkFee(scope as unknown as PoolScope, {} as AuditRpc);
    return findings.filter(isDifference).length;
  }

  it("misses it once balances were read, and of an older pool without events once any fee was", async () => {
    expect(await broken(5)).to.equal(1);
    expect(await broken(5, { balanceBlock: -1 })).to.equal(0);
    expect(await broken(5, { read: 1, balanceBlock: null, fromBlock: 60 })).to.equal(1);
    expect(await broken(5, { read: 1, balanceBlock: null })).to.equal(0);
  });

  it("does not while more are unread than a head reads", async () => {
    expect(await broken(2_500, { read: 1_000 })).to.equal(0);
    expect(await broken(2_500, { read: 2_000 })).to.equal(1);
  });
});
