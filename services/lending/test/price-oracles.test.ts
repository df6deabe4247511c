import { expect } from "chai";
import { after, before, it } from "mocha";
import {
  concat,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  zeroAddress,
} from "viem";
import { priceFeed } from "../../../deploy/devnet/contracts/aave/artifacts.ts";
import { devToken } from "../../../deploy/devnet/contracts/artifacts.ts";
import { eulerOracle } from "../../../deploy/devnet/contracts/euler/artifacts.ts";
import { feedAggregator, feedProxy } from "../../../deploy/devnet/contracts/feed/artifacts.ts";
import { USD } from "../../../deploy/devnet/euler/plan.ts";
import { onOracle, onVaultFactory } from "../../../deploy/devnet/euler/transactions.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { PriceSource } from "../../shared/grpc/types.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { loadDeployments } from "../deployments.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import type { ColumnTable } from "../serve/columns/column-table.ts";
import { ChainTables } from "../serve/tables/chain-tables.ts";
import type { ProtocolTables } from "../serve/tables/protocol-tables.ts";
import { getCheckpoint } from "../store/queries.ts";
import { CURATORS } from "./answers.ts";
import { type IndexedChain, indexLending, startTestIngest, type TestIngest } from "./harness.ts";

const PROTOCOLS: readonly ProtocolId[] = ["aave-v3", "euler-v2", "morpho-v1"];

describeWithChain("lending: prices of the chain's trusted oracles", () => {
  let chain: TestChain;
  let indexed: IndexedChain & { remove(): Promise<void> };
  let ingest: TestIngest;
  let tables: ChainTables;
  /** What the price walk knows; undefined: evm-dex does not index the chain. */
  let walk: Readonly<Record<string, number>> | undefined;

  const prices: PriceSource = {
    async getPrices({ tokens, block = 0 }) {
      if (walk === undefined) throw new ServiceError("not_found", "not indexed");
      const usdOf = walk;
      const { timestamp } = await chain.header(block);
      const priced = tokens.map((token) => ({ token, usd: usdOf[token] ?? null, hops: 0, depthUsd: null }));
      return { block, blockTime: timestamp, prices: priced };
    },
  };

  before(async () => {
    chain = await createTestChain({ poolCount: 1, families: ["aave-v3", "morpho-v1", "euler-v2"] });
    const { tokens } = chain.deployment;
    // A feed for a token that Aave does not list.
    const [from] = chain.accounts as [Hex];
    const nonce = await chain.client.getTransactionCount({ address: from });
    const at = (offset: number) =>
      getContractAddress({ from, nonce: BigInt(nonce + offset) }).toLowerCase() as Hex;
    const [aggregator, proxy] = [at(0), at(1)];
    const call = (to: Hex, data: Hex) => ({ from, to, data, gas: "0x30d40" as const });
    await mined([
      { from, data: feedAggregator.bytecode, gas: "0x7a1200" },
      { from, data: feedProxy.bytecode, gas: "0x7a1200" },
      call(proxy, encodeFunctionData({ ...feedProxy, functionName: "setAggregator", args: [aggregator] })),
      call(aggregator, encodeFunctionData({ ...feedAggregator, functionName: "tell", args: [12_500_000n] })),
    ]);
    indexed = await indexLending(chain, { priceFeeds: [{ token: tokens.DEGEN.address, feed: proxy }] });
    ingest = await startTestIngest(indexed);
    const [deployed] = loadDeployments(indexed.deploymentsFile, indexed.protocols);
    if (deployed === undefined) throw new Error("There is no chain.");
    const protocols = deployed.protocols.filter(({ protocol }) => PROTOCOLS.includes(protocol.id));
    tables = new ChainTables({
      ...{ store: ingest.store, chain: { ...deployed, protocols }, prices, curators: CURATORS },
      staleSeconds: 600,
      events: { built() {}, rowSkipped() {}, failed() {}, pricesChanged() {} },
    });
  });
  after(async () => {
    await tables?.close();
    await ingest?.close();
    await indexed?.remove();
    await chain?.stop();
  });

  const mined = async (transactions: Parameters<TestChain["sendTransactions"]>[0]) => {
    const hashes = await chain.sendTransactions(transactions);
    await chain.mine();
    for (const hash of hashes)
      expect((await chain.client.getTransactionReceipt({ hash })).status).to.equal("success");
  };
  const setPrice = (token: "WETH" | "USDC" | "DAI", usd: number) => {
    const { feed } = chain.aave.reserve(token);
    const data = encodeFunctionData({ ...priceFeed, functionName: "setAnswer", args: [BigInt(usd * 1e8)] });
    return mined([{ from: chain.accounts[0] as Hex, to: feed, data, gas: "0x30d40" }]);
  };
  /** Indexes up to the head and builds the tables. */
  const catchUp = async () => {
    await ingest.catchUp();
    await tables.update(await getCheckpoint(ingest.store, 8453));
    await tables.update(await getCheckpoint(ingest.store, 8453));
  };
  const current = (protocol: ProtocolId) => {
    const found = tables.current(protocol);
    if (found === undefined) throw new Error(`There are no tables of ${protocol}.`);
    return found;
  };
  /** Each list's rows of one token: the price that its USD values imply, with source and age. */
  const pricesIn = (token: string) =>
    PROTOCOLS.flatMap((protocol) => {
      const lists: ProtocolTables = current(protocol).tables;
      const vaults = rowsOf(lists.vaults, "underlyingAddress", token);
      const markets = rowsOf(lists.markets, "loanAddress", token);
      return [...vaults, ...markets];
    });
  const rowsOf = (table: ColumnTable, column: string, token: string) =>
    Array.from({ length: table.count }, (_, at) => at)
      .filter((at) => table.cell(column, at) === token)
      .map((at) => ({
        tvlUsd: table.cell("tvlUsd", at) as number | null,
        source: table.cell("priceSource", at),
        age: table.cell("priceAgeSeconds", at),
      }));
  const sourcesOf = (token: string) => [
    ...new Set(pricesIn(token).map(({ source, age }) => `${source} ${age}`)),
  ];
  const supplyOf = (lists: ProtocolTables, token: string) => {
    const { vaults } = lists;
    for (let at = 0; at < vaults.count; at++) {
      const supply = vaults.cell("supply", at) as number;
      if (vaults.cell("underlyingAddress", at) === token && supply > 0)
        return (vaults.cell("tvlUsd", at) as number) / supply;
    }
    return undefined;
  };

  it("are of the rows' own block, in all rows of all protocols alike", async () => {
    walk = undefined;
    const weth = chain.deployment.tokens.WETH.address;
    for (const usd of [3_000, 3_300]) {
      await setPrice("WETH", usd);
      await catchUp();
      expect(sourcesOf(weth)).to.deep.equal(["aave 0"]);
      for (const protocol of PROTOCOLS) {
        const { tables: lists, version } = current(protocol);
        expect(supplyOf(lists, weth), protocol).to.be.closeTo(usd, 1e-6);
        expect(version.stale).to.equal(undefined);
      }
    }
    // A block without any event is read, too.
    await chain.mine();
    await catchUp();
    expect(sourcesOf(weth)).to.deep.equal(["aave 0"]);
  });

  it("price what only another protocol's oracle knows, and a token of a Chainlink feed", async () => {
    const { WBTC, DEGEN } = chain.deployment.tokens;
    expect(pricesIn(WBTC.address).length).to.be.above(1);
    expect(sourcesOf(WBTC.address)).to.deep.equal(["aave 0"]);
    const degen = pricesIn(DEGEN.address);
    expect(degen.length).to.be.above(0);
    for (const { source, age, tvlUsd } of degen) {
      expect(source).to.equal("chainlink");
      expect(age, "since the feed was told").to.be.above(0);
      expect(tvlUsd).to.not.equal(null);
    }
    expect(supplyOf(current("euler-v2").tables, DEGEN.address)).to.be.closeTo(0.125, 1e-9);
  });

  it("come after the price walk, but for an anchor that has lost its peg", async () => {
    const { WETH, USDC } = chain.deployment.tokens;
    walk = { [WETH.address]: 2_900, [USDC.address]: 1 };
    await setPrice("USDC", 0.999);
    await catchUp();
    expect(sourcesOf(WETH.address)).to.deep.equal(["dex 0"]);
    expect(sourcesOf(USDC.address)).to.deep.equal(["dex 0"]);
    await setPrice("USDC", 0.88);
    await catchUp();
    expect(sourcesOf(USDC.address)).to.deep.equal(["aave 0"]);
    for (const protocol of PROTOCOLS)
      expect(supplyOf(current(protocol).tables, USDC.address), protocol).to.be.closeTo(0.88, 1e-9);
    await setPrice("USDC", 1);
    walk = undefined;
  });

  it("are not those of a vault's creator: his own oracle prices nothing", async () => {
    const { factory } = chain.euler.deployment;
    const [stranger] = chain.accounts.slice(-1) as [Hex];
    const nonce = await chain.client.getTransactionCount({ address: stranger });
    const created = (offset: number) =>
      getContractAddress({ from: stranger, nonce: BigInt(nonce + offset) }).toLowerCase() as Hex;
    const [oracle, spam] = [created(0), created(1)];
    const args = ["SPAM", "SPAM", 18] as const;
    await mined([
      { from: stranger, data: eulerOracle.bytecode, gas: "0x7a1200" },
      { from: stranger, data: encodeDeployData({ ...devToken, args }), gas: "0x7a1200" },
    ]);
    const metadata = concat([spam, oracle, USD]);
    await mined([
      onOracle(stranger, oracle, { functionName: "setPrice", args: [spam, USD, 10n ** 48n] }),
      onVaultFactory(stranger, factory, {
        functionName: "createProxy",
        args: [zeroAddress, true, metadata],
      }),
    ]);
    await catchUp();
    const [row, ...others] = pricesIn(spam);
    expect(others).to.deep.equal([]);
    expect(row).to.deep.equal({ tvlUsd: null, source: "", age: null });
  });

  it("say how old they are where an oracle cannot be read any more", async () => {
    const { provider, owner } = chain.aave.deployment;
    const setOracle = (oracle: Hex) => {
      const data = concat(["0x530e784f", `0x${oracle.slice(2).padStart(64, "0")}`]);
      return mined([{ from: owner, to: provider, data, gas: "0x30d40" }]);
    };
    await catchUp();
    const { version: fresh } = current("aave-v3");
    expect(fresh.stale).to.equal(undefined);
    await setOracle(chain.deployment.tokens.USDC.address);
    await catchUp();
    const { version } = current("euler-v2");
    expect(version.block).to.be.above(fresh.block);
    expect(version.stale).to.match(/^prices; age=\d+$/);
    const weth = pricesIn(chain.deployment.tokens.WETH.address);
    for (const { source, age } of weth) {
      expect(source).to.equal("aave");
      expect(`prices; age=${age}`).to.equal(version.stale);
    }
    await setOracle(chain.aave.deployment.oracle);
    // It is tried again some seconds later.
    await chain.mine(1, { intervalS: 30 });
    await catchUp();
    expect(current("euler-v2").version.stale).to.equal(undefined);
  });
});
