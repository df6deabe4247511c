import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import { encodeFunctionData, encodeFunctionResult } from "viem";
import { poolAbi } from "../../../../deploy/devnet/contracts/uniswap.ts";
import { MULTICALL3 } from "../../../shared/evm/multicall/multicall.ts";
import { BlockUnavailable, type EthCall, type Hex } from "../../../shared/evm/port.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { describeOnEngines } from "../../../shared/storage/testkit/engines.ts";
import {
  type CheckpointRow,
  COLLECTIONS,
  inactivePools,
  pools,
  priceLinks,
  priceStarts,
} from "../../store/collections.ts";
import { readPrices } from "../../store/price-links.ts";
import { createFakeSource, type FakeSource, headersUpTo } from "../../test/kit/fake-source.ts";
import { address, CHAIN_ID, checkpointRow, hash, poolRow, word } from "../../test/kit/rows.ts";
import { FeedContracts } from "../feeds/feed-contracts.ts";
import { loadIndexer } from "../state/load-indexer.ts";
import { rollbackTo } from "../undo/rollback.ts";
import { readPriceStart } from "./price-start.ts";

const FROM = 500;
const BEFORE = FROM - 1;
const HEAD = 900;
const SLOT0 = encodeFunctionData({ abi: poolAbi, functionName: "slot0" });
const LIQUIDITY = encodeFunctionData({ abi: poolAbi, functionName: "liquidity" });
const E18 = 10n ** 18n;

const [USD, ETH, THIRD, FOURTH, THIN, LONE] = [1, 2, 3, 4, 5, 6].map((n) => address(n)) as [
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
];

/** Pools at a price of 1 and what they hold of either token; all tokens have 18 decimals. */
const PAIRS: readonly (readonly [pool: Hex, token0: Hex, token1: Hex, whole: bigint])[] = [
  [address(0x901), USD, ETH, 50_000n],
  [address(0x902), ETH, THIRD, 20_000n],
  // Below the minimum, above a tenth of it.
  [address(0x903), USD, THIRD, 2_000n],
  [address(0x904), THIRD, FOURTH, 15_000n],
  [address(0x905), ETH, THIN, 999n],
  // Deep, but of a token that nothing prices.
  [address(0x906), THIN, LONE, 10_000_000n],
];
const YOUNG = address(0x907);

const rowOf = ([poolAddress, token0Address, token1Address]: (typeof PAIRS)[number], createdBlock = 3) =>
  poolRow({
    poolAddress,
    createdBlock,
    createdAt: 1_600_000_000,
    token0Address,
    token1Address,
    token1Decimals: 18,
  });

/** A chain without Multicall3 and with these pools; `isGone`: no node has this call's block. */
function chainOf(isGone: (call: EthCall) => boolean = () => false): FakeSource {
  const held = new Map(PAIRS.map(([pool, , , whole]) => [pool as string, whole * E18]));
  return createFakeSource({
    headers: headersUpTo(HEAD),
    call(call): Hex {
      if (isGone(call)) throw new BlockUnavailable("pruned");
      if (call.to === MULTICALL3) return "0x";
      if (BigInt(call.to) === 4n) return call.data;
      if (call.data === LIQUIDITY) return word(10n ** 30n);
      if (call.data === SLOT0) {
        const sqrtPriceX96 = call.block === BEFORE ? 2n ** 96n : 2n ** 97n;
        const result = [sqrtPriceX96, 0, 1, 2, 3, 0, true] as const;
        return encodeFunctionResult({ abi: poolAbi, functionName: "slot0", result });
      }
      return word(held.get(`0x${call.data.slice(-40)}`) ?? 0n);
    },
  });
}

const START: CheckpointRow = checkpointRow({
  blockNumber: BEFORE,
  blockHash: hash(BEFORE),
  blockTime: 1_700_000_000 + 2 * BEFORE,
  fromBlock: FROM,
});

describeOnEngines(
  (engine) => `readPriceStart on ${engine}`,
  {},
  (engine) => {
    let store: Store;
    let remove: () => Promise<void>;
    const lines: string[] = [];
    beforeEach(async () => {
      ({ store, remove } = await openStore());
      lines.length = 0;
      const young = rowOf([YOUNG, USD, ETH, 1n], FROM);
      await store.write([put(pools, [...PAIRS.map((pair) => rowOf(pair)), young])]);
    });
    afterEach(() => remove());

    async function openStore() {
      const opened = await engine.open();
      await opened.store.declare(COLLECTIONS);
      return opened;
    }

    const read = (source: FakeSource, checkpoint = START) =>
      readPriceStart(
        {
          store,
          source,
          anchors: [USD],
          feedContracts: new FeedContracts(),
          guard: () => [],
          signal: new AbortController().signal,
          log: (level, message) => level === "warn" && lines.push(message),
        },
        checkpoint,
      );
    const pricedAt = (block: number) =>
      readPrices(store, { chainId: CHAIN_ID, tokens: [USD, ETH, THIRD, FOURTH, THIN, LONE], block });
    const readPools = async () =>
      (await store.find(inactivePools, { filter: { chainId: CHAIN_ID, priced: true } })).map(
        ({ poolAddress }) => poolAddress,
      );
    const callsOf = (source: FakeSource, data: Hex) =>
      source.calls.flat().filter((call) => call.data === data);

    it("reads what may price a token, token after token from the anchors, and writes the prices", async () => {
      const source = chainOf();
      expect(await read(source)).to.equal(true);
      expect(await readPools()).to.deep.equal(PAIRS.slice(0, 4).map(([pool]) => pool));
      const prices = await pricedAt(BEFORE);
      expect([...prices].map(([token, { usd, hops }]) => [token, usd, hops])).to.deep.equal([
        [USD, 1, 0],
        [ETH, 1, 1],
        [THIRD, 1, 2],
        [FOURTH, 1, 3],
      ]);
      expect(prices.get(ETH)?.link?.support).to.deep.equal({
        pool: PAIRS[0]?.[0],
        depthUsd: 49_152,
        restUsd: 0,
      });
      // One look at each pool of a priced token and at no other, all at the block before; four calls where it is deep.
      const looks = source.calls.flat().filter(({ to }) => PAIRS.every(([pool]) => to !== pool));
      expect(looks.filter(({ data }) => data.endsWith("905"))).to.have.length(1);
      expect(looks.filter(({ data }) => data.endsWith("906") || data.endsWith("907"))).to.deep.equal([]);
      expect(
        callsOf(source, SLOT0).map(({ to, block, blockHash }) => [to, block, blockHash]),
      ).to.have.deep.members(PAIRS.slice(0, 4).map(([pool]) => [pool, BEFORE, hash(BEFORE)]));
    });

    it("has the prices of the first block and no others, also after a restart", async () => {
      await read(chainOf());
      const indexer = await loadIndexer(store, { chainId: CHAIN_ID, anchors: [USD] });
      expect([ETH, THIRD, FOURTH, THIN, LONE].map((token) => indexer.prices.usd(token))).to.deep.equal([
        1,
        1,
        1,
        null,
        null,
      ]);
      const [entry] = await indexer.pools.read([PAIRS[1]?.[0] as string]);
      // Its state before its first event is known, and its age counts up to the start.
      expect(entry?.anchor).to.equal(entry?.protocol.write(entry?.state));
      expect(entry).to.include({ lastBlock: -1, lastTime: START.blockTime });
      const [thin] = await indexer.pools.read([PAIRS[4]?.[0] as string]);
      expect(thin?.anchor).to.equal(undefined);
      const changes = indexer.prices.closeBlock([], START.blockTime + 2);
      expect(changes, "all links are stored").to.deep.equal([]);
    });

    it("happens once, and only before the first block", async () => {
      expect(await read(chainOf(), { ...START, blockNumber: FROM, blockHash: hash(FROM) })).to.equal(false);
      expect(await read(chainOf())).to.equal(true);
      const again = chainOf();
      expect(await read(again)).to.equal(false);
      expect(again.calls).to.deep.equal([]);
    });

    it("goes on where it was killed: states that are stored are not read again, and the prices are the same", async () => {
      const dying = chainOf();
      let slots = 0;
      const killed = {
        ...dying,
        call: async (calls: readonly EthCall[]) => {
          if (calls.some(({ data }) => data === SLOT0) && ++slots > 1) throw new Error("killed");
          return dying.call(calls);
        },
      };
      await read(killed).then(
        () => expect.fail("It was not killed."),
        (error: Error) => expect(error.message).to.equal("killed"),
      );
      const stored = await readPools();
      expect(stored.length).to.be.greaterThan(0).and.lessThan(4);
      const loaded = await loadIndexer(store, { chainId: CHAIN_ID, anchors: [USD] });
      expect(loaded.prices.usd(ETH), "half of the pools price nothing").to.equal(null);
      const source = chainOf();
      expect(await read(source)).to.equal(true);
      expect(callsOf(source, SLOT0)).to.have.length(4 - stored.length);
      const resumed = await store.find(priceLinks, {});
      const all = await store.find(pools, {});
      await remove();
      ({ store, remove } = await openStore());
      await store.write([put(pools, all)]);
      await read(chainOf());
      expect(resumed).to.deep.equal(await store.find(priceLinks, {}));
    });

    it("reads the head where the block before is pruned, says so, and leaves the first event its own anchor", async () => {
      const source = chainOf(({ block }) => block === BEFORE);
      expect(await read(source)).to.equal(true);
      expect(lines[0]).to.match(/No endpoint has the state of block 499: .* head \(900\)/);
      const rows = await store.find(inactivePools, {});
      expect(new Set(rows.map(({ balanceBlock }) => balanceBlock))).to.deep.equal(new Set([HEAD]));
      expect((await pricedAt(BEFORE)).get(ETH)?.usd).to.equal(0.25);
      const indexer = await loadIndexer(store, { chainId: CHAIN_ID, anchors: [USD] });
      expect(indexer.prices.usd(ETH)).to.equal(0.25);
      const [entry] = await indexer.pools.read([PAIRS[0]?.[0] as string]);
      expect(entry?.anchor).to.equal(undefined);
    });

    it("is forgotten when the block before is replaced, and kept by any other reorg", async () => {
      await read(chainOf());
      const rollback = (branch: number) =>
        rollbackTo(store, {
          checkpoint: START,
          target: { number: BEFORE, hash: hash(BEFORE, branch), time: START.blockTime },
          guard: () => [],
        });
      await rollback(0);
      expect(await store.count(inactivePools, {})).to.equal(4);
      expect((await pricedAt(BEFORE)).has(FOURTH)).to.equal(true);
      await rollback(1);
      expect(await store.count(inactivePools, {})).to.equal(0);
      expect(await store.count(priceStarts, {})).to.equal(0);
      expect([...(await pricedAt(BEFORE)).keys()]).to.deep.equal([USD]);
    });
  },
);
