import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { createTraders, type Traders } from "../../../deploy/devnet/traders.ts";
import type { Store } from "../../shared/storage/port.ts";
import { describeOnEngines } from "../../shared/storage/testkit/engines.ts";
import { priceLinks } from "../store/collections.ts";
import { readPrices } from "../store/price-links.ts";
import { deployFeed, type TestFeed } from "./kit/feed.ts";
import {
  dumpFreshIndex,
  dumpStore,
  expectSameStore,
  startTestIngest,
  type TestIngest,
} from "./kit/harness.ts";

const CHAIN = { chainId: 8453 };
const GENESIS_S = 1_760_000_000;
const E8 = 10n ** 8n;

describeOnEngines(
  (engine) => `evm-dex ingest on ${engine}: stablecoins with a USD feed`,
  {},
  (engine) => {
    let chain: TestChain;
    let traders: Traders;
    let deploymentsFile: string;
    let ingest: TestIngest;
    let store: Store;
    let remove: () => Promise<void>;
    let feed: TestFeed;
    let time = GENESIS_S;
    const lines: string[] = [];

    /** A block of trades, indexed. */
    const trade = async (seconds = 60) => {
      time += seconds;
      await traders.tradeBlock({ timestamp: time, swaps: 6 });
      await ingest.catchUp();
    };
    const start = () =>
      startTestIngest({ url: chain.url, deploymentsFile }, { store, log: (line) => lines.push(line) });
    const usdOf = async (symbol: "USDC" | "DAI" | "WETH", block?: number) => {
      const token = chain.deployment.tokens[symbol].address;
      const prices = await readPrices(store, { ...CHAIN, tokens: [token], block: block ?? ingest.block() });
      return prices.get(token)?.usd;
    };
    const takeLines = () => lines.splice(0).filter((line) => /USD/.test(line));

    before(async () => {
      chain = await createTestChain({ timestamp: GENESIS_S, accounts: 32 });
      traders = createTraders(chain.anvil.rpc, chain.deployment, { seed: 7 });
      time = GENESIS_S + 1_000;
      feed = await deployFeed(chain);
      ({ deploymentsFile } = feed);
      await feed.tell(100_030_000n);
      await chain.mine(1);
      ({ store, remove } = await engine.open());
      ingest = await start();
      for (let i = 0; i < 8; i++) await trade();
    });
    after(async () => {
      await ingest?.close();
      await remove?.();
      await chain?.stop();
      if (feed !== undefined) await rm(dirname(feed.deploymentsFile), { recursive: true, force: true });
    });

    it("are worth 1 USD near it, and what the feed says once it has left, from the next block on", async () => {
      expect(await usdOf("USDC")).to.equal(1);
      const wethBefore = (await usdOf("WETH")) ?? 0;
      const blockBefore = ingest.block();
      await feed.tell((91n * E8) / 100n);
      await trade();
      expect(await usdOf("USDC")).to.equal(0.91);
      expect(await usdOf("DAI"), "the other has its own").to.equal(1);
      expect(await usdOf("USDC", blockBefore)).to.equal(1);
      expect(await usdOf("WETH"), "priced over USDC").to.be.closeTo(0.91 * wethBefore, 0.02 * wethBefore);
      await trade();
      expect(takeLines(), "said once").to.deep.equal(["USDC is at 0.91 USD by its feed."]);
    });

    it("continue after a restart", async () => {
      await ingest.close();
      await feed.tell((92n * E8) / 100n);
      await chain.mine(1);
      ingest = await start();
      await trade();
      expect(await usdOf("USDC")).to.equal(0.92);
      expect(takeLines(), "known before").to.deep.equal([]);
      expectSameStore(await dumpStore(store), await dumpFreshIndex({ url: chain.url, deploymentsFile }));
    });

    it("lose what a replaced block said", async () => {
      await feed.tell((50n * E8) / 100n);
      await trade();
      expect(await usdOf("USDC")).to.equal(0.5);
      await chain.reorg(1, { transactionsPerBlock: 6, seed: 3 });
      await ingest.catchUp();
      expect(await usdOf("USDC")).to.equal(0.92);
      expectSameStore(await dumpStore(store), await dumpFreshIndex({ url: chain.url, deploymentsFile }));
      takeLines();
    });

    it("ignore an answer that no stablecoin can have, and one of any other contract", async () => {
      const stranger = await feed.deployAggregator();
      await feed.tell(7n * E8, stranger);
      await trade();
      expect(await usdOf("USDC")).to.equal(0.92);
      await feed.tell(11n * E8);
      await trade();
      expect(await usdOf("USDC")).to.equal(1);
      expect(takeLines()).to.deep.equal([
        "The feed of USDC says 11 USD, which is refused: other stablecoins value it.",
      ]);
      await feed.tell(0n);
      await trade();
      expect(await usdOf("USDC")).to.equal(1);
    });

    it("follow the proxy to its next aggregator", async () => {
      const next = await feed.deployAggregator();
      await feed.moveTo(next);
      await feed.tell((95n * E8) / 100n, next);
      await chain.mine(1_001, { intervalS: 1 });
      time = (await chain.header(await chain.headNumber())).timestamp;
      await trade();
      await feed.tell((96n * E8) / 100n, next);
      await trade();
      expect(await usdOf("USDC")).to.equal(0.96);
      takeLines();
    });

    it("are valued without their feed once it is silent for 25 hours", async () => {
      await trade(25 * 3_600 - 200);
      expect(await usdOf("USDC")).to.equal(0.96);
      await trade(400);
      expect(await usdOf("USDC")).to.equal(1);
      expect(takeLines()).to.deep.equal([
        "The feed of USDC is silent for more than 25 hours: other stablecoins value it.",
      ]);
    });

    it("start with what the feed last said before the index", async () => {
      const startBlock = await chain.headNumber();
      const told = await chain.anvil.rpc.call("eth_blockNumber");
      expect(Number(told)).to.equal(startBlock);
      const later = await startTestIngest(
        { url: chain.url, deploymentsFile },
        { startBlock: startBlock - 1 },
      );
      await later.catchUp();
      const rows = await later.store.find(priceLinks, { filter: { ...CHAIN, hops: 0, pool: "" } });
      const usdc = chain.deployment.tokens.USDC.address;
      expect(rows.filter(({ token }) => token === usdc).map(({ price }) => price)).to.deep.equal([0.96, 1]);
      await later.close();
    });
  },
);
