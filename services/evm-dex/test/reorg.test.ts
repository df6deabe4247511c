import { expect } from "chai";
import { after, before, it } from "mocha";
import { DEX_FAMILIES, deskPools } from "../../../deploy/devnet/plan.ts";
import { createRandom, type Random } from "../../../deploy/devnet/random.ts";
import { createTestChain, type ReorgOptions, type TestChain } from "../../../deploy/devnet/testkit.ts";
import type { Hex } from "../../shared/evm/port.ts";
import { describeRounds, randomRuns } from "../../shared/testkit/describe.ts";
import { poolEvents } from "../store/collections.ts";
import {
  dumpFreshIndex,
  dumpStore,
  expectSameStore,
  startTestIngest,
  type TestIngest,
} from "./kit/harness.ts";
import { actOnAerodrome } from "./v2/aerodrome-busy.ts";

/** 50 where all is checked. */
const REORGS = Number(process.env.TEST_REORGS ?? randomRuns(4));
const MAX_DEPTH = 20;

describeRounds(REORGS, "evm-dex ingest: reorgs", () => {
  let chain: TestChain;
  let ingest: TestIngest;

  before(async () => {
    chain = await createTestChain({ families: DEX_FAMILIES });
    ingest = await startTestIngest(chain);
  });
  after(async () => {
    await ingest?.close();
    await chain?.stop();
  });

  it(`ends as a fresh index of the chain after each of ${REORGS} random reorgs`, async () => {
    const random = createRandom(20_261_121);
    const pools = deskPools(chain.deployment);
    let undone = 0;
    for (let i = 0; i < REORGS; i++) {
      const blocks = 1 + random.below(6);
      for (let b = 0; b < blocks; b++) {
        await chain.send(chain.randomActions(random.below(1e9), random.below(6), pools));
        if (random.next() < 0.3) await shock(chain, random);
        if (random.next() < 0.3) await actOnSlipstream(chain, random);
        await actOnAerodrome(chain, random, 4);
        await chain.mine(1, { intervalS: random.pick([1, 2, 2, 12, 47, 3600]) });
      }
      await ingest.catchUp();
      const before = await ingest.store.find(poolEvents, { fields: ["blockHash"] });
      const depth = Math.min(1 + random.below(MAX_DEPTH), await reorgableBlocks(chain));
      await chain.reorg(depth, replacement(chain, { depth, random }));
      await ingest.catchUp();
      const hashes = new Set(
        (await ingest.store.find(poolEvents, { fields: ["blockHash"] })).map((row) => row.blockHash),
      );
      undone += before.filter((row) => !hashes.has(row.blockHash)).length;
      expectSameStore(await dumpStore(ingest.store), await dumpFreshIndex(chain));
    }
    expect(undone, "reorgs that undid nothing prove nothing").to.be.greaterThan(REORGS);
  });
});

/** Transactions of the replacing blocks: on the desk's pools, or on Aerodrome's and their gauges. */
function replacement(chain: TestChain, { depth, random }: { depth: number; random: Random }): ReorgOptions {
  const [transactionsPerBlock, seed] = [random.below(4), random.below(1e9)];
  if (random.next() < 0.5) return { transactionsPerBlock, seed };
  const made = chain.aerodrome.randomTransactions(seed, transactionsPerBlock * depth);
  return { transactions: made.map((transaction, i) => [transaction, i % depth] as const) };
}

/** A swap large enough that the price of the last five minutes is trusted over the pool's own. */
async function shock(chain: TestChain, random: Random): Promise<void> {
  const pool = random.pick(deskPools(chain.deployment));
  const zeroForOne = random.next() < 0.5;
  const token = zeroForOne ? pool.token0 : pool.token1;
  const held = await chain.balanceOf(token.address, pool.address);
  await chain.swap(pool.address, { zeroForOne, amount: held / 3n });
}

/** What Slipstream alone can do: a fee that changes without an event, gauge fees, events before a creation. */
async function actOnSlipstream(chain: TestChain, random: Random): Promise<void> {
  const { slipstream } = chain;
  const pool = random.pick(slipstream.pools);
  const act = random.below(3);
  if (act === 0) await slipstream.setSwapFee(pool.address, random.below(9_000));
  if (act === 1 && pool.gauge !== undefined) await slipstream.collectFees(pool.gauge);
  if (act === 2) {
    const tokens = [
      pool.token0.address,
      random.pick([chain.pools[8], chain.pools[9]])?.token0.address,
    ] as const;
    const tickSpacing = random.pick([1, 50, 100, 200, 2_000]);
    await slipstream.createPool({ tokens: tokens as [Hex, Hex], tickSpacing, sqrtPriceX96: 3n ** 60n });
  }
}

/** The deployment stays: anvil replays the accounts' nonces, and without contracts nothing can be sent. */
async function reorgableBlocks(chain: TestChain): Promise<number> {
  return Math.max(1, (await chain.anvil.rpc.call<string>("eth_blockNumber").then(Number)) - 4);
}
