import { expect } from "chai";
import { after, before, it } from "mocha";
import { encodeFunctionData } from "viem";
import { pancakeFactoryAbi } from "../../../deploy/devnet/contracts/pancake/abi.ts";
import { deskPools } from "../../../deploy/devnet/plan.ts";
import type { DeployedPool } from "../../../deploy/devnet/pools.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import type { Cell } from "../../shared/contract/column.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { endpoint as clonesEndpoint } from "../endpoints/evm/clones/v3/pool.endpoint.ts";
import { clonesPoolHandler } from "../endpoints/evm/clones/v3/pool.handler.ts";
import { endpoint as dexaEndpoint } from "../endpoints/evm/dexa/v3/pool.endpoint.ts";
import { dexaV3PoolHandler } from "../endpoints/evm/dexa/v3/pool.handler.ts";
import { endpoint as dexesEndpoint } from "../endpoints/evm/dexes.endpoint.ts";
import { dexesHandler } from "../endpoints/evm/dexes.handler.ts";
import { v3 } from "../protocols/v3/protocol.ts";
import { readState } from "../protocols/v3/state.ts";
import { poolEvents, poolStates } from "../store/collections.ts";
import { depsOf, refusalOf, rowsOf } from "./kit/answers.ts";
import { decidedPrices } from "./kit/decided-prices.ts";
import { expectPool } from "./kit/expect-pool.ts";
import { startTestIngest, type TestIngest } from "./kit/harness.ts";
import {
  expectedState,
  type PriceAt,
  pricesOf,
  rangesOf,
  swapsOf,
  tvlOf,
  wholePrice,
} from "./kit/pool-expectation.ts";
import { type PoolReader, pancakeReader, slipstreamReader, uniswapReader } from "./kit/pool-readers.ts";

/** 2025-10-09T08:53:20Z */
const GENESIS_S = 1_760_000_000;
/** Seconds before each block: windows of all lengths have events in them and before them. */
const GAPS = [2, 2_600_000, 2, 700_000, 2, 200_000, 80_000, 3_000, 2, 1_800, 60, 240, 2, 61, 2];

describeWithChain("evm-dex over Slipstream, PancakeSwap v3 and a second factory of Uniswap v3", () => {
  let chain: TestChain;
  let ingest: TestIngest;
  let head: number;
  let chains: readonly ChainDeployments[];
  let kin: {
    slipstream: readonly DeployedPool[];
    pancake: readonly DeployedPool[];
    sushi: readonly DeployedPool[];
  };

  before(async () => {
    chain = await createTestChain({
      timestamp: GENESIS_S,
      families: ["slipstream", "pancake-v3", "sushi-v3"],
    });
    const { slipstream, pancake, sushi } = chain.deployment;
    if (!slipstream || !pancake || !sushi) throw new Error("A family is missing.");
    kin = { slipstream: slipstream.pools, pancake: pancake.pools, sushi: sushi.pools };
    await trade(chain);
    head = await chain.headNumber();
    chains = loadDeployments(chain.deploymentsFile);
    ingest = await startTestIngest(chain);
    await ingest.catchUp();
  });
  after(async () => {
    await ingest?.close();
    await chain?.stop();
  });

  const nth = (pools: readonly DeployedPool[], at: number) => pools[at] as DeployedPool;

  async function expectRow(
    row: Record<string, Cell> | undefined,
    { pool, reader }: { pool: DeployedPool; reader: PoolReader },
  ): Promise<void> {
    const priceAt = decidedPrices(ingest.store, pricesWithAero(chain));
    const swaps = await swapsOf(chain, { pool, priceAt, reader });
    expect(swaps.length, "a pool without swaps proves nothing").to.be.greaterThan(2);
    const tvlUsd = await tvlOf(chain, { pool, priceAt, head });
    expectPool(row as Record<string, Cell>, {
      state: await expectedState(chain, { pool, head, reader }),
      tvlUsd,
      ranges: rangesOf(swaps, { headTime: (await chain.header(head)).timestamp, tvlUsd }),
    });
  }

  it("/evm/dexes lists the factories of every kind", async () => {
    const rows = await rowsOf(dexesEndpoint, dexesHandler(depsOf(ingest.store, chains)), { chain_id: 8453 });
    expect(rows.map(({ dexName, dexType, family }) => [dexName, dexType, family])).to.deep.equal([
      ["PancakeSwap V3", "v3", "clones"],
      ["SushiSwap V3", "v3", "clones"],
      ["Aerodrome Slipstream", "v3", "dexa"],
      ["Uniswap V3", "v3", "dexb"],
    ]);
  });

  // With staked liquidity; two stablecoins, without a gauge; all of the widest position staked.
  for (const at of [0, 1, 2]) {
    it(`/evm/dexa/v3/pool of Slipstream pool ${at} equals the sums of the chain`, async () => {
      const pool = nth(kin.slipstream, at);
      const params = { chain_id: 8453 as const, pool_address: pool.address };
      const [row] = await rowsOf(dexaEndpoint, dexaV3PoolHandler(depsOf(ingest.store, chains)), params);
      await expectRow(row, { pool, reader: feesAsRead(chain) });
    });
  }

  it("a Slipstream fee is the pool's own at its last event", async () => {
    const handler = dexaV3PoolHandler(depsOf(ingest.store, chains));
    const feeOf = async (pool: DeployedPool) =>
      (await rowsOf(dexaEndpoint, handler, { chain_id: 8453, pool_address: pool.address }))[0]?.feeTier;
    // Changed by the trader below, then traded; never changed.
    expect(await feeOf(nth(kin.slipstream, 0))).to.equal(777);
    expect(await feeOf(nth(kin.slipstream, 1))).to.equal(100);
  });

  const clones: readonly [string, "pancake" | "sushi", number][] = [
    ["PancakeSwap V3", "pancake", 0],
    // Its protocol share is set to nothing on the way.
    ["PancakeSwap V3", "pancake", 2],
    ["SushiSwap V3", "sushi", 0],
    ["SushiSwap V3", "sushi", 1],
  ];
  for (const [dexName, kind, at] of clones) {
    it(`/evm/clones/v3/pool of ${dexName} pool ${at} equals the sums of the chain`, async () => {
      const pool = nth(kin[kind], at);
      const params = { chain_id: 8453 as const, pool_address: pool.address };
      const [row] = await rowsOf(clonesEndpoint, clonesPoolHandler(depsOf(ingest.store, chains)), params);
      expect(row?.dexName).to.equal(dexName);
      await expectRow(row, {
        pool,
        reader: kind === "pancake" ? pancakeReader(chain) : uniswapReader(chain),
      });
    });
  }

  it("each path serves only its own DEXes", async () => {
    const deps = depsOf(ingest.store, chains);
    const [slipstream, pancake] = [nth(kin.slipstream, 0), nth(kin.pancake, 0)];
    const query = (pool: DeployedPool) => ({ chain_id: 8453 as const, pool_address: pool.address });
    expect(await refusalOf(dexaV3PoolHandler(deps), query(pancake))).to.equal("not_found");
    expect(await refusalOf(clonesPoolHandler(deps), query(slipstream))).to.equal("not_found");
    expect(await refusalOf(clonesPoolHandler(deps), query(nth(chain.pools, 0)))).to.equal("not_found");
  });

  it("tracks the balances of each pool through all kinds of events", async () => {
    const pools = deskPools(chain.deployment);
    const states = await ingest.store.find(poolStates, {});
    for (const pool of pools) {
      const row = states.find(({ poolAddress }) => poolAddress === pool.address);
      const { amount0, amount1 } = v3.reserves(readState(row?.state ?? ""));
      const held = await Promise.all(
        [pool.token0, pool.token1].map((token) => chain.balanceOf(token.address, pool.address, head)),
      );
      expect([amount0, amount1], pool.address).to.deep.equal(held);
    }
  });

  it("sees the events that only these kinds have", async () => {
    const kinds = new Set(
      (await ingest.store.find(poolEvents, { fields: ["kind"] })).map(({ kind }) => kind),
    );
    expect([...kinds]).to.include.members(["collect_fees", "collect_protocol"]);
  });
});

/** The fee that the index should have: at the pool's last event, or at its turn after it (one in 1,800 blocks). */
function feesAsRead(chain: TestChain): PoolReader {
  const reader = slipstreamReader(chain);
  return {
    ...reader,
    async at(pool, block) {
      const logs = await chain.client.getLogs({ address: pool, fromBlock: 0n, toBlock: BigInt(block) });
      const lastEvent = Number(logs.at(-1)?.blockNumber);
      const turns = Array.from({ length: block + 1 }, (_, number) => number).filter(
        (number) => number % 1_800 === Number(BigInt(pool) & 0xffffffffn) % 1_800,
      );
      const { fee } = await reader.at(pool, Math.max(lastEvent, turns.at(-1) ?? 0));
      return { ...(await reader.at(pool, block)), fee };
    },
  };
}

/** AERO by Slipstream's pool, the deepest that has it. */
function pricesWithAero(chain: TestChain): PriceAt {
  const others = pricesOf(chain);
  const { AERO } = chain.deployment.tokens;
  const pool = chain.slipstream.pools[2] as DeployedPool;
  return async (token, block) => {
    if (token !== AERO.address) return others(token, block);
    const { sqrtPriceX96 } = await chain.slipstream.state(pool.address, block);
    const price = wholePrice(sqrtPriceX96, pool);
    return pool.token0.address === AERO.address ? price : 1 / price;
  };
}

/** Swaps both ways in the checked pools, random actions on all, and the special actions of these kinds. */
async function trade(chain: TestChain): Promise<void> {
  const { slipstream, pancake, sushi } = chain.deployment;
  if (!slipstream || !pancake || !sushi) throw new Error("A family is missing.");
  const checked = [...slipstream.pools.slice(0, 3), pancake.pools[0], pancake.pools[2], ...sushi.pools];
  const gauge = slipstream.pools[0]?.gauge ?? "0x";
  for (const [i, gap] of GAPS.entries()) {
    const from = chain.accounts[11 + (i % 6)] as `0x${string}`;
    for (const [at, pool] of (checked as DeployedPool[]).entries()) {
      const zeroForOne = (i + at) % 3 !== 0;
      const token = zeroForOne ? pool.token0 : pool.token1;
      const amount = BigInt(
        Math.round(((pool.spec.swapUsd * (1 + i / 4)) / token.usd) * 10 ** token.decimals),
      );
      if ((i + at) % 4 !== 0) await chain.swap(pool.address, { zeroForOne, amount, from });
    }
    await chain.send(chain.randomActions(i, 6, deskPools(chain.deployment)));
    if (i === 3) await chain.slipstream.collectFees(gauge);
    if (i === 5) await chain.slipstream.setSwapFee(slipstream.pools[0]?.address ?? "0x", 777);
    if (i === 8) await chain.sendTransactions(protocolFees(chain));
    await chain.mine(1, { intervalS: gap });
  }
}

/** Of PancakeSwap: one pool's share is collected, another's is set to nothing. */
function protocolFees(chain: TestChain) {
  const { pancake } = chain.deployment;
  if (!pancake) throw new Error("PancakeSwap is missing.");
  const [first, , third] = pancake.pools as [DeployedPool, DeployedPool, DeployedPool];
  const abi = pancakeFactoryAbi;
  const most = 2n ** 128n - 1n;
  return [
    encodeFunctionData({
      abi,
      functionName: "collectProtocol",
      args: [first.address, pancake.owner, most, most],
    }),
    encodeFunctionData({ abi, functionName: "setFeeProtocol", args: [third.address, 0, 0] }),
  ].map((data) => ({ from: pancake.owner, to: pancake.factory, data, gas: "0x200000" as const }));
}
