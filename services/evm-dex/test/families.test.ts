import { expect } from "chai";
import { after, before, it } from "mocha";
import { DEX_FAMILIES, deskPools } from "../../../deploy/devnet/plan.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { createTraders } from "../../../deploy/devnet/traders.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { readV2State } from "../protocols/aerodrome-v2/state.ts";
import { protocolOf } from "../protocols/index.ts";
import { type PoolRow, type PoolStateRow, poolStates, pools } from "../store/collections.ts";
import { readV2Fee } from "../views/v2-fee.ts";
import { startTestIngest, type TestIngest } from "./kit/harness.ts";

const GENESIS_S = 1_760_000_000;

describeWithChain("evm-dex ingest: every family of the local chain", () => {
  let chain: TestChain;
  let ingest: TestIngest;
  before(async () => {
    chain = await createTestChain({ timestamp: GENESIS_S, accounts: 32, families: DEX_FAMILIES });
    const traders = createTraders(chain.anvil.rpc, chain.deployment, { seed: 4 });
    for (let block = 0; block < 40; block++)
      await traders.tradeBlock({ timestamp: GENESIS_S + 100 + block * 60, swaps: 4 });
    ingest = await startTestIngest(chain);
    await ingest.catchUp();
  });
  after(async () => {
    await ingest.close();
    await chain.stop();
  });

  async function stored(poolAddress: string): Promise<{ pool: PoolRow; row: PoolStateRow }> {
    const filter = { chainId: 8453, poolAddress };
    const [[pool], [row]] = await Promise.all([
      ingest.store.find(pools, { filter }),
      ingest.store.find(poolStates, { filter }),
    ]);
    if (!pool || !row) throw new Error(`${poolAddress} is not indexed`);
    return { pool, row };
  }
  async function auditValues(poolAddress: string): Promise<Readonly<Record<string, bigint | number>>> {
    const { pool, row } = await stored(poolAddress);
    const protocol = protocolOf(pool.protocol);
    return protocol.auditValues(protocol.read(row.state));
  }

  it("has every pool, with its own factory and kind", async () => {
    const { deployment } = chain;
    const { aerodrome, slipstream, pancake, sushi } = deployment;
    const kinds: [string, string | undefined, readonly { address: string }[] | undefined][] = [
      ["uniswap-v3", deployment.factory, deployment.pools],
      ["aerodrome-v2", aerodrome?.factory, aerodrome?.pools],
      ["slipstream", slipstream?.factory, slipstream?.pools],
      ["pancake-v3", pancake?.factory, pancake?.pools],
      ["uniswap-v3", sushi?.factory, sushi?.pools],
    ];
    const expected = kinds.flatMap(([kind, factory, made = []]) =>
      made.map(({ address }) => [address, factory, kind]),
    );
    const rows = await ingest.store.find(pools, {});
    expect(
      rows.map(({ poolAddress, dexAddress, protocol }) => [poolAddress, dexAddress, protocol]),
    ).to.have.deep.members(expected);
  });

  it("has the price, tick and liquidity of every pool of Uniswap v3 and its kin", async () => {
    const slipstream = new Set(chain.deployment.slipstream?.pools.map(({ address }) => address));
    for (const { address, spec } of deskPools(chain.deployment)) {
      const { sqrtPriceX96, tick } = await (slipstream.has(address) ? chain.slipstream.state : chain.slot0)(
        address,
      );
      const liquidity = await chain.liquidity(address);
      expect(await auditValues(address), `${spec.base}/${spec.quote}`).to.include({
        sqrtPriceX96,
        tick,
        liquidity,
      });
    }
  });

  it("has the reserves and fee of every Aerodrome v2 pool", async () => {
    for (const { address, stable, spec } of chain.aerodrome.pools) {
      const [reserve0, reserve1] = await chain.aerodrome.reserves(address);
      const fee = await chain.aerodrome.fee({ address, stable });
      const { pool, row } = await stored(address);
      const { checkpoint } = ingest.sync;
      const label = `${spec.base}/${spec.quote}`;
      expect(await auditValues(address), label).to.include({ reserve0, reserve1 });
      expect(
        await readV2Fee(ingest.store, { pool, checkpoint, state: readV2State(row.state) }),
        label,
      ).to.equal(fee);
    }
  });
});
