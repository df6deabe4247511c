import { expect } from "chai";
import { after, before, it } from "mocha";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { createTraders, type Traders } from "../../../deploy/devnet/traders.ts";
import { MEDIAN_WINDOW_SECONDS } from "../../shared/pricing/median.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { checkpoints, inactivePools, poolEvents, priceLinks, rollups } from "../store/collections.ts";
import { readPrices } from "../store/price-links.ts";
import { startTestIngest, type TestIngest } from "./kit/harness.ts";

const CHAIN = { chainId: 8453 };
const GENESIS_S = 1_760_000_000;
const BLOCK_S = 60;
/** By then all pools vote with all of their depth, however old. */
const STARTED_S = GENESIS_S + 40 * 86_400;

/** The same blocks give the same rows from any first block, ten minutes after it; here no pool leaves others. */
describeWithChain("evm-dex ingest: prices at the start of an index", () => {
  let chain: TestChain;
  let traders: Traders;
  let time = STARTED_S;
  const live: TestIngest[] = [];
  const indexes: { name: string; ingest: TestIngest }[] = [];

  const trade = async (blocks: number) => {
    for (let i = 0; i < blocks; i++) {
      time += BLOCK_S;
      await traders.tradeBlock({ timestamp: time, swaps: 2 });
      if (i % 3 === 0) for (const ingest of live) await ingest.catchUp();
    }
  };

  before(async () => {
    chain = await createTestChain({
      timestamp: GENESIS_S,
      accounts: 32,
      families: ["aerodrome-v2", "slipstream", "pancake-v3"],
    });
    traders = createTraders(chain.anvil.rpc, chain.deployment, { seed: 4 });
    await trade(60);
    const starts = [0];
    live.push(await startTestIngest(chain));
    for (const blocks of [8, 9]) {
      const startBlock = await chain.headNumber();
      starts.push(startBlock);
      live.push(await startTestIngest(chain, { startBlock }));
      await trade(blocks);
    }
    await trade(12);
    for (const [i, startBlock] of starts.entries()) {
      const whole = await startTestIngest(chain, { startBlock });
      const grown = live[i] as TestIngest;
      for (const ingest of [whole, grown]) await ingest.catchUp();
      indexes.push({ name: `from ${startBlock} at once`, ingest: whole });
      indexes.push({ name: `from ${startBlock} block by block`, ingest: grown });
    }
  });
  after(async () => {
    for (const { ingest } of indexes) await ingest.close();
    await chain?.stop();
  });

  /** What an index says of the blocks from a second on. */
  async function rowsSince({ store }: TestIngest, since: number) {
    const later = { time: { gte: since } };
    const links = await store.find(priceLinks, { filter: { ...CHAIN, ...later } });
    const events = await store.find(poolEvents, { filter: { ...CHAIN, ...later } });
    const minutes = await store.find(rollups, { filter: { ...CHAIN, span: 60, start: { gte: since } } });
    const usd = events.map(({ poolAddress, logIndex, price0Usd, price1Usd, valueUsd, feeUsd }) => {
      return [poolAddress, logIndex, price0Usd, price1Usd, valueUsd, feeUsd];
    });
    return { links, usd, minutes };
  }

  it("are those of an index from the first block of the chain", async () => {
    const [reference, ...others] = indexes;
    if (reference === undefined) throw new Error("Nothing is indexed.");
    for (const { name, ingest } of others) {
      const [checkpoint] = await ingest.store.find(checkpoints, {});
      const since = (checkpoint?.fromTime ?? 0) + MEDIAN_WINDOW_SECONDS;
      const [own, expected] = [await rowsSince(ingest, since), await rowsSince(reference.ingest, since)];
      expect(expected.usd.length, name).to.be.greaterThan(30);
      expect(expected.links.length, name).to.be.greaterThan(10);
      for (const part of ["links", "usd", "minutes"] as const)
        expect(own[part], `${part}, ${name}`).to.deep.equal(expected[part]);
    }
  });

  it("exist from the first block on, for tokens whose pools have had no event yet", async () => {
    const tokens = Object.values(chain.deployment.tokens).map(({ address }) => address.toLowerCase());
    const [reference] = indexes;
    for (const { name, ingest } of indexes.slice(2)) {
      const [checkpoint] = await ingest.store.find(checkpoints, {});
      const block = (checkpoint?.fromBlock ?? 0) - 1;
      const own = await readPrices(ingest.store, { ...CHAIN, tokens, block });
      const expected = await readPrices((reference as typeof reference & object).ingest.store, {
        ...CHAIN,
        tokens,
        block,
      });
      expect([...own.keys()], name).to.deep.equal([...expected.keys()]);
      expect(own.size, name).to.be.greaterThan(4);
      expect(await ingest.store.count(inactivePools, { ...CHAIN, priced: true })).to.be.greaterThan(10);
    }
  });
});
