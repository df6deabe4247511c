import { expect } from "chai";
import { after, before, it } from "mocha";
import { encodeFunctionData } from "viem";
import type { AerodromePool } from "../../../deploy/devnet/aerodrome/deploy.ts";
import { devToken } from "../../../deploy/devnet/contracts/artifacts.ts";
import type { Address } from "../../../deploy/devnet/node/transactions.ts";
import type { DeployedPool } from "../../../deploy/devnet/pools.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import type { Endpoint } from "../../shared/contract/endpoint.ts";
import { put } from "../../shared/storage/port.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import { AuditRpc } from "../audit/rpc.ts";
import { auditOnce } from "../audit/testkit.ts";
import { dexaFeeMetrics, dexaPool, dexaPools } from "../contract.ts";
import { loadDeployments } from "../deployments.ts";
import { dexaFeeMetricsHandler } from "../endpoints/evm/dexa/v2/fee-metrics.handler.ts";
import { dexaV2PoolHandler } from "../endpoints/evm/dexa/v2/pool.handler.ts";
import { dexaPoolsHandler } from "../endpoints/evm/dexa/v2/pools.handler.ts";
import { endpoint as slipstreamEndpoint } from "../endpoints/evm/dexa/v3/pool.endpoint.ts";
import { dexaV3PoolHandler } from "../endpoints/evm/dexa/v3/pool.handler.ts";
import { endpoint as uniswapEndpoint } from "../endpoints/evm/dexb/v3/pool.endpoint.ts";
import { dexbPoolHandler } from "../endpoints/evm/dexb/v3/pool.handler.ts";
import { BALANCE_ROUND_BLOCKS, lastBalanceTurn } from "../ingest/reads/balance-turns.ts";
import { readInactivePools } from "../ingest/reads/inactive-pools.ts";
import { FACTORY_FEE_BLOCKS, lastFactoryTurn } from "../ingest/state/factory-fee-book.ts";
import { FEE_REFRESH_BLOCKS, lastRefreshBlock } from "../ingest/state/fee-book.ts";
import { factoryFees } from "../store/v2-collections.ts";
import { depsOf, rowsOf } from "./kit/answers.ts";
import {
  dumpFreshIndex,
  dumpStore,
  expectSameStore,
  startTestIngest,
  type TestIngest,
} from "./kit/harness.ts";
import { pricesOf, tvlOf } from "./kit/pool-expectation.ts";
import { setDefaultFee } from "./v2/aerodrome-busy.ts";

/** What a column's published description says, beside what the endpoint returns on a chain that puts it to the test. */
function textOf({ columns }: Endpoint, name: string): string {
  const column = columns.find((each) => each.name === name);
  if (column === undefined) throw new Error(`No column ${name}.`);
  return column.description;
}

const CHAIN_ID = 8453 as const;
/** Nothing but blocks. */
const EMPTY = { transactionsPerBlock: 0 };

describeThorough("what the texts of fees, reserves and TVL say", () => {
  let chain: TestChain;
  let ingest: TestIngest;

  before(async () => {
    chain = await createTestChain({
      families: ["aerodrome-v2", "slipstream"],
      keptStates: 5_000,
    });
    for (const { address } of chain.pools.slice(0, 2)) {
      await chain.swap(address, { zeroForOne: true, amount: 10n ** 12n });
      await chain.swap(address, { zeroForOne: false, amount: 10n ** 12n });
    }
    await chain.mine(1);
    ingest = await startTestIngest(chain);
    await ingest.catchUp();
  });
  after(async () => {
    await ingest?.close();
    await chain?.stop();
  });

  const deps = (from = ingest) => depsOf(from.store, loadDeployments(chain.deploymentsFile));
  const keyOf = (pool: { address: Address }) => ({ chain_id: CHAIN_ID, pool_address: pool.address });
  async function v2Row(pool: AerodromePool, from = ingest) {
    const params = { ...keyOf(pool), apr_days_annualized: 7 };
    return (await rowsOf(dexaPool, dexaV2PoolHandler(deps(from)), params))[0] ?? {};
  }
  async function v2FeeTier(pool: AerodromePool) {
    return (await rowsOf(dexaFeeMetrics, dexaFeeMetricsHandler(deps()), keyOf(pool)))[0]?.feeTier;
  }
  const tvlNow = async (pool: DeployedPool) =>
    (await rowsOf(uniswapEndpoint, dexbPoolHandler(deps()), keyOf(pool)))[0]?.poolTvlUsd as number;
  const chainTvl = async (pool: DeployedPool) =>
    (await tvlOf(chain, { pool, priceAt: pricesOf(chain), head: await chain.headNumber() })) as number;

  async function mineTo(block: number): Promise<void> {
    await chain.mine(block - (await chain.headNumber()));
    await ingest.catchUp();
  }
  /** The next block at which a reading comes, by the function that gives the last one. */
  async function nextTurn(lastTurn: (head: number) => number, every: number): Promise<number> {
    return lastTurn(await chain.headNumber()) + every;
  }
  const nextFactoryTurn = () =>
    nextTurn((head) => lastFactoryTurn(chain.aerodrome.deployment.factory, head), FACTORY_FEE_BLOCKS);

  const give = (token: { address: Address }, to: string, amount: bigint) =>
    chain.sendTransactions([
      {
        from: chain.accounts[4] as Address,
        to: token.address,
        data: encodeFunctionData({
          abi: devToken.abi,
          functionName: "mint",
          args: [to as Address, amount],
        }),
        gas: "0x124f80",
      },
    ]);

  /** A pool of the curve, and the fee that the factory says. */
  async function expectFeeOfChain(pool: AerodromePool): Promise<number> {
    const fee = await chain.aerodrome.fee({ address: pool.address, stable: pool.spec.stable });
    expect((await v2Row(pool)).fee).to.equal(fee / 10_000);
    expect(await v2FeeTier(pool)).to.equal(fee * 100);
    return fee;
  }

  const volatilePools = () => chain.aerodrome.pools.filter(({ spec }) => !spec.stable && !spec.customFee);

  it("v2 fee: a changed default shows in every pool when the factory is read, in one that trades at once", async () => {
    for (const text of [textOf(dexaPool, "fee"), textOf(dexaFeeMetrics, "feeTier")]) {
      expect(text).to.include("the factory's default by the pool's last swap");
      expect(text).to.include(`every ${FACTORY_FEE_BLOCKS} blocks`);
    }
    const [silent, trading] = volatilePools() as [AerodromePool, AerodromePool];
    await mineTo(await nextFactoryTurn());
    const before = await expectFeeOfChain(silent);
    await setDefaultFee(chain, { stable: false, fee: before + 21 });
    await chain.mine(1);
    await chain.aerodrome.swap(trading.address, {
      zeroForOne: true,
      amountIn: 10n ** BigInt(trading.token0.decimals),
    });
    await chain.mine(1);
    await ingest.catchUp();
    expect((await v2Row(silent)).fee, "not read yet").to.equal(before / 10_000);
    expect(await expectFeeOfChain(trading), "by its swap").to.equal(before + 21);
    await mineTo(await nextFactoryTurn());
    for (const pool of volatilePools()) expect(await expectFeeOfChain(pool)).to.equal(before + 21);
    for (const pool of chain.aerodrome.pools) await expectFeeOfChain(pool);
  });

  it("v2 fee: a custom fee shows by its event, 420 as none, and the current default once it is taken back", async () => {
    expect(textOf(dexaPool, "fee")).to.include("a custom fee by its event");
    const [pool] = volatilePools() as [AerodromePool];
    for (const [set, fee] of [
      [9, 9],
      [420, 0],
    ] as const) {
      await chain.aerodrome.setCustomFee(pool.address, set);
      await chain.mine(1);
      await ingest.catchUp();
      expect(await expectFeeOfChain(pool)).to.equal(fee);
    }
    await setDefaultFee(chain, { stable: false, fee: 77 });
    await chain.mine(1);
    await mineTo(await nextFactoryTurn());
    expect(await expectFeeOfChain(pool), "its own fee stays").to.equal(0);
    await chain.aerodrome.setCustomFee(pool.address, 0);
    await chain.mine(1);
    await ingest.catchUp();
    expect(await expectFeeOfChain(pool)).to.equal(77);
  });

  it("v2 reserves and TVL: of the last Sync, whatever tokens came without one", async () => {
    expect(textOf(dexaPool, "reserve0")).to.include("after the last Sync event");
    expect(textOf(dexaPool, "poolTvlUsd")).to.include("reserves after the last Sync event");
    const pool = chain.aerodrome.pools.find(({ token0, token1 }) =>
      [token0, token1].some(({ symbol }) => symbol === "USDC"),
    ) as AerodromePool;
    const { USDC } = chain.deployment.tokens;
    const before = await v2Row(pool);
    await give(USDC, pool.address, 10n ** 12n);
    await mineTo(await nextFactoryTurn());
    const { reserve0, reserve1, poolTvlUsd } = await v2Row(pool);
    expect([reserve0, reserve1, poolTvlUsd]).to.deep.equal([
      before.reserve0,
      before.reserve1,
      before.poolTvlUsd,
    ]);
  });

  it("v2 TVL and fee of a pool older than the index without an event: as read once, null before", async () => {
    const text = textOf(dexaPool, "poolTvlUsd");
    expect(text).to.include("as read once where the pool is older than the index and has had no event since");
    expect(text).to.include("null while one has no price, or while such a pool is not read yet");
    const { USDC, DAI } = chain.deployment.tokens;
    // Too small to price a token: the start of an index reads deep pools only.
    const key = { tokenA: USDC.address, tokenB: DAI.address, stable: false };
    const { address: small } = await chain.aerodrome.createPool(key);
    await chain.mine(1);
    const amounts = [10n ** BigInt(USDC.decimals + 2), 10n ** BigInt(DAI.decimals + 2)] as [bigint, bigint];
    await chain.aerodrome.addLiquidity(
      small,
      USDC.address < DAI.address ? amounts : [amounts[1], amounts[0]],
    );
    const startBlock = await chain.mine(2);
    const young = await startTestIngest(chain, { startBlock });
    try {
      // Pools with events price the tokens.
      for (const { address } of chain.pools.slice(0, 2))
        await chain.swap(address, { zeroForOne: true, amount: 10n ** 12n });
      await chain.mine(1);
      // Until prices are the same whenever an index began; the next event tells them.
      await chain.mine(2, { intervalS: 400 });
      await chain.swap((chain.pools[0] as DeployedPool).address, { zeroForOne: true, amount: 1_000n });
      await chain.mine(1, { intervalS: 2 });
      await young.catchUp();
      const listed = async (pool: { address: string }) =>
        (
          await rowsOf(dexaPools, dexaPoolsHandler(deps(young)), {
            chain_id: CHAIN_ID,
            limit: 100,
            offset: 0,
          })
        ).find(({ poolId }) => poolId === pool.address);
      const pool = chain.aerodrome.pools.find(({ token0, token1 }) =>
        [token0, token1].every(({ symbol }) => symbol === "USDC" || symbol === "WETH"),
      ) as AerodromePool;
      expect((await listed({ address: small }))?.poolTvlUsd, "not read").to.equal(null);
      const { store, source } = young;
      await readInactivePools({
        ...{ store, source, fromBlock: startBlock, perSecond: 1_000, guard: () => [] },
        ...{ signal: new AbortController().signal, pause: async () => {} },
      });
      expect((await listed({ address: small }))?.poolTvlUsd).to.be.closeTo(200, 1e-6);
      await ingest.catchUp();
      const [old, whole] = [await v2Row(pool, young), await v2Row(pool)];
      expect(old.reserve0).to.equal(whole.reserve0);
      expect(old.fee).to.equal(whole.fee);
      expect(old.poolTvlUsd).to.be.closeTo(whole.poolTvlUsd as number, (whole.poolTvlUsd as number) * 1e-3);
      expect((await listed(pool))?.poolTvlUsd).to.equal(old.poolTvlUsd);
    } finally {
      await young.close();
    }
  });

  it("v3 TVL: gifts show at the pool's turn, at once with an event, and go with a reorg", async () => {
    const text = textOf(uniswapEndpoint, "poolTvlUsd");
    expect(BALANCE_ROUND_BLOCKS.toLocaleString("en")).to.equal("1,800");
    expect(text).to.include("those of the pool's last event, or of at most 1,800 blocks ago");
    const [pool] = chain.pools as [DeployedPool];
    const { USDC } = chain.deployment.tokens;
    const turn = (head: number) => lastBalanceTurn(pool.address, head);
    await ingest.catchUp();
    const before = await tvlNow(pool);
    expect(before).to.be.closeTo(await chainTvl(pool), before * 1e-12);
    await give(USDC, pool.address, 10n ** 12n);
    await chain.mine(1);
    const next = await nextTurn(turn, BALANCE_ROUND_BLOCKS);
    await mineTo(next - 2);
    expect(await tvlNow(pool), "before its turn").to.equal(before);
    expect((await chainTvl(pool)) - before).to.be.closeTo(1e6, 1);
    await give(USDC, pool.address, 5n * 10n ** 12n);
    await mineTo(next);
    expect((await tvlNow(pool)) - before, "both gifts").to.be.closeTo(6e6, 1);
    await chain.reorg(3, EMPTY);
    await ingest.catchUp();
    expect((await tvlNow(pool)) - before, "the second is undone").to.be.closeTo(1e6, 1);
    expectSameStore(await dumpStore(ingest.store), await dumpFreshIndex(chain));
    await give(USDC, pool.address, 10n ** 12n);
    await chain.swap(pool.address, { zeroForOne: true, amount: 10n ** 9n });
    await chain.mine(1);
    await ingest.catchUp();
    expect(await tvlNow(pool), "with its swap").to.be.closeTo(await chainTvl(pool), before * 1e-12);
  });

  it("v3 feeTier: of the pool's last event, or of its turn after that", async () => {
    expect(FEE_REFRESH_BLOCKS.toLocaleString("en")).to.equal("1,800");
    expect(textOf(slipstreamEndpoint, "feeTier")).to.include(
      "the pool's fee() at its last event, or at most 1,800 blocks ago",
    );
    const pool = chain.slipstream.pools[1] as DeployedPool;
    const feeNow = async () =>
      (await rowsOf(slipstreamEndpoint, dexaV3PoolHandler(deps()), keyOf(pool)))[0]?.feeTier;
    const before = await feeNow();
    await chain.slipstream.setSwapFee(pool.address, 4_321);
    const turn = await nextTurn((head) => lastRefreshBlock(pool.address, head), FEE_REFRESH_BLOCKS);
    await mineTo(turn - 1);
    expect(await feeNow()).to.equal(before);
    await mineTo(turn);
    expect(await feeNow()).to.equal(4_321);
  });

  it("the audit agrees after all that: an old default in a state is no difference, a wrong reading is one", async () => {
    await ingest.catchUp();
    const { store } = ingest;
    const options = { store, rpc: new AuditRpc(chain.url), chainId: CHAIN_ID, pools: 100, seed: 1 };
    const { differences, fields } = await auditOnce(options);
    expect(differences).to.deep.equal([]);
    expect([...fields]).to.include.members(["factory_fees.stableFee", "pool_states.state"]);
    const [row] = await store.find(factoryFees, {});
    if (row === undefined) throw new Error("No default fee was read.");
    await store.write([put(factoryFees, [{ ...row, volatileFee: (row.volatileFee ?? 0) + 1 }])]);
    const wrong = (await auditOnce(options)).differences.map(({ field }) => field);
    expect([...new Set(wrong)]).to.deep.equal(["factory_fees.volatileFee"]);
  });
});
