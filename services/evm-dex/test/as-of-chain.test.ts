import { expect } from "chai";
import { after, before, it } from "mocha";
import { encodeFunctionData } from "viem";
import { devToken } from "../../../deploy/devnet/contracts/artifacts.ts";
import type { Address } from "../../../deploy/devnet/node/transactions.ts";
import { DEX_FAMILIES, deskPools } from "../../../deploy/devnet/plan.ts";
import { createRandom, type Random } from "../../../deploy/devnet/random.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { describeRounds, randomRuns } from "../../shared/testkit/describe.ts";
import { loadDeployments } from "../deployments.ts";
import { FACTORY_FEE_BLOCKS, lastFactoryTurn } from "../ingest/state/factory-fee-book.ts";
import { observations } from "../store/observations.ts";
import { startTestIngest, type TestIngest } from "./kit/harness.ts";
import { type Answers, askAll, expectSameAnswers, listAsked } from "./kit/past-answers.ts";
import { actOnAerodrome, setDefaultFee } from "./v2/aerodrome-busy.ts";

/** 48 where all is checked. */
const BLOCKS = randomRuns(48);

/** What no event tells, on genuine contracts: fees that follow a setting, gifts of tokens, and what a reorg does to both. */
describeRounds(BLOCKS, "as of an earlier block of a local chain", () => {
  let chain: TestChain;
  let ingest: TestIngest;
  const recorded = new Map<string, { number: number; answers: Answers }>();

  before(async () => {
    chain = await createTestChain({ families: DEX_FAMILIES });
    // The factory's default fees are read at one block in a hundred: two of them lie in what follows.
    const { factory } = chain.aerodrome.deployment;
    const turn = lastFactoryTurn(factory, (await chain.headNumber()) + 2 * FACTORY_FEE_BLOCKS);
    await chain.mine(turn - (await chain.headNumber()) - 3);
    ingest = await startTestIngest(chain);
    await ingest.catchUp();
  });
  after(async () => {
    await ingest?.close();
    await chain?.stop();
  });

  const ask = async (asOf = {}) =>
    askAll(
      ingest.store,
      { ...(await listAsked(ingest.store)), chains: loadDeployments(chain.deploymentsFile) },
      asOf,
    );

  /** A block a head, each answered while it is the head. */
  async function grow(random: Random, blocks: number): Promise<void> {
    for (let i = 0; i < blocks; i++) {
      await act(chain, random);
      await chain.mine(1, { intervalS: random.pick([2, 2, 12, 61, 3_600, 90_000]) });
      await ingest.catchUp();
      const { blockNumber: number, blockHash } = ingest.sync.checkpoint;
      recorded.set(blockHash, { number, answers: await ask() });
    }
  }

  async function expectRecorded(): Promise<number> {
    let compared = 0;
    const { blockNumber: head } = ingest.sync.checkpoint;
    for (const [hash, { answers, number }] of recorded) {
      const now = await ask({ at_block: number });
      const label = `block ${number} of ${head}`;
      for (const { version } of now.values())
        if (version !== undefined) expect(version.blockHash, label).to.equal(hash);
      compared += expectSameAnswers(answers, now, label);
    }
    return compared;
  }

  it("each block is answered as it was when it was the head", async () => {
    await grow(createRandom(20_261_126), BLOCKS);
    expect(await expectRecorded()).to.be.greaterThan(10 * BLOCKS);
  });

  it("also after a reorg, which takes back what was read in the dropped blocks", async () => {
    const depth = 5;
    const { blockNumber: head } = ingest.sync.checkpoint;
    await chain.reorg(depth, { transactionsPerBlock: 2, seed: 7 });
    await ingest.catchUp();
    for (const [hash, { number }] of recorded) if (number > head - depth) recorded.delete(hash);
    await grow(createRandom(8), 4);
    expect(await expectRecorded()).to.be.greaterThan(10 * (BLOCKS - depth));
  });

  it("what was read is stored on change: most pools have one surplus, changed fees one row each", async () => {
    const rows = await ingest.store.find(observations, {});
    const count = (what: string) => rows.filter((row) => row.what === what).length;
    const gifted = new Set(
      rows.filter((row) => row.what === "surplus" && row.value0 !== 0n).map((r) => r.address),
    );
    expect(gifted.size, "pools that were given tokens").to.be.greaterThan(0);
    expect(count("fee"), "fees of Slipstream pools").to.be.greaterThan(chain.slipstream.pools.length);
    expect(count("default_fees"), "readings of a factory").to.be.greaterThan(0);
    for (const [place, values] of valuesByPlace(rows.filter(({ what }) => what !== "default_fees")))
      for (let i = 1; i < values.length; i++) expect(values[i], place).to.not.equal(values[i - 1]);
  });
});

function valuesByPlace(rows: readonly { address: string; what: string; value0: unknown; value1: unknown }[]) {
  const places = new Map<string, string[]>();
  for (const { address, value0, value1, what } of rows) {
    const place = `${what} ${address}`;
    places.set(place, [...(places.get(place) ?? []), `${value0} ${value1}`]);
  }
  return places;
}

async function act(chain: TestChain, random: Random): Promise<void> {
  const pools = deskPools(chain.deployment);
  await chain.send(chain.randomActions(random.below(1e9), 1 + random.below(4), pools));
  await actOnAerodrome(chain, random, 3);
  const { slipstream } = chain;
  if (random.next() < 0.4)
    await slipstream.setSwapFee(random.pick(slipstream.pools).address, random.below(9_000));
  if (random.next() < 0.3)
    await setDefaultFee(chain, { stable: random.next() < 0.5, fee: 1 + random.below(60) });
  if (random.next() < 0.4) await give(chain, random);
}

/** Tokens that a pool is sent: no event of the pool tells it. */
async function give(chain: TestChain, random: Random): Promise<void> {
  const pool = random.pick(chain.pools);
  const gifts = [pool.token0, pool.token1].map(({ address, decimals }) => {
    const args = [pool.address as Address, 10n ** BigInt(decimals + 2)] as const;
    const data = encodeFunctionData({ abi: devToken.abi, functionName: "mint", args });
    return { from: chain.accounts[4] as Address, to: address, data, gas: "0x124f80" as const };
  });
  await chain.sendTransactions(gifts);
}
