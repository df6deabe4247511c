import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { MULTICALL3 } from "../../../shared/evm/multicall/multicall.ts";
import type { BlockHeader, EthCall, EvmSource, Hex, RawLog } from "../../../shared/evm/port.ts";
import { ProgressModel } from "../../../shared/ingest-status/progress-model.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import type { Factory } from "../../deployments.ts";
import { protocolOf } from "../../protocols/index.ts";
import { discoveries, poolListings, pools, tokens } from "../../store/collections.ts";
import { gauges } from "../../store/v2-collections.ts";
import { createFakeSource } from "../../test/kit/fake-source.ts";
import { address, CHAIN_ID, hash, openTestStore } from "../../test/kit/rows.ts";
import { toListing } from "../../views/pool-listing.ts";
import { discoverPools, planPools } from "./discover-pools.ts";

const FACTORY = {
  address: address(0xfac),
  dexName: "Uniswap V3",
  family: "dexb",
  kind: "uniswap-v3",
  fromBlock: 0,
} as const;
const TOPIC = "0x783cca1c0412dd0d695e784568c96da2e9c22ff989357a2e8b1d9b2b4e6b7118";
const LAST = 99_999;
/** Pools in blocks all over the range, two in a block. */
const COUNT = 60;
const blockOf = (n: number): number => (n >> 1) * 3_000 + 7;
const poolOf = (n: number) => address(0x9000 + n);

function word(value: number | string): string {
  const digits = typeof value === "number" ? value.toString(16) : value.slice(2);
  return digits.padStart(64, "0");
}

/** PoolCreated(token0, token1, fee, tickSpacing, pool), as the factory emits it. */
function createdLog(n: number): RawLog {
  const indexed = [address(2 * n + 1), address(2 * n + 2), 500].map((value) => `0x${word(value)}` as const);
  return {
    address: FACTORY.address,
    topics: [TOPIC, ...indexed],
    data: `0x${word(10)}${word(poolOf(n))}`,
    blockNumber: blockOf(n),
    blockHash: hash(blockOf(n)),
    blockTimestamp: 1_700_000_000 + blockOf(n),
    transactionHash: hash(1_000_000 + n),
    transactionIndex: 0,
    logIndex: n % 2,
  } as RawLog;
}

/** PoolCreated(token0, token1, stable, pool, count) of an Aerodrome v2 factory. */
function v2Log(factory: `0x${string}`, n: number): RawLog {
  const indexed = [address(2 * n + 1), address(2 * n + 2), 0].map((value) => `0x${word(value)}` as const);
  return {
    ...createdLog(n),
    address: factory,
    topics: [protocolOf("aerodrome-v2").created.topic, ...indexed],
    data: `0x${word(poolOf(n))}${word(n)}`,
  };
}

/** GaugeCreated of Aerodrome's voter. */
function gaugeLog(voter: `0x${string}`, at: { pool: string; gauge: string; block: number }): RawLog {
  const created = protocolOf("aerodrome-v2").gauges?.created;
  if (created === undefined) throw new Error("no gauges");
  const indexed = [address(1), address(2), address(3)].map((value) => `0x${word(value)}` as const);
  return {
    ...createdLog(0),
    address: voter,
    topics: [created.topic, ...indexed],
    data: `0x${[at.pool, address(4), address(5), at.gauge, address(6)].map(word).join("")}`,
    blockNumber: at.block,
    blockHash: hash(at.block),
  };
}

/** Tokens and factories of a chain without Multicall3, where 30 is every number; a call that must work is a call of itself. */
function answerCall({ to, data }: EthCall): Hex {
  if (to === MULTICALL3) return "0x";
  return to === address(4) ? data : `0x${word(30)}`;
}

function headerOf(number: number): BlockHeader {
  const timestamp = 1_700_000_000 + number;
  return { number, hash: hash(number), parentHash: hash(number - 1), timestamp, logsBloom: "0x" };
}

describe("discoverPools", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  const logs = Array.from({ length: COUNT }, (_, n) => createdLog(n));
  /** A chain whose node always fails from a block on. */
  const sourceUpTo = (failsFrom: number): EvmSource => ({
    ...createFakeSource({ call: answerCall }),
    head: async () => headerOf(LAST),
    async logs({ fromBlock, toBlock }) {
      if (toBlock >= failsFrom) throw new Error("the node is gone");
      return logs.filter((log) => log.blockNumber >= fromBlock && log.blockNumber <= toBlock);
    },
    headers: async (numbers) => numbers.map(headerOf),
    verifyEmpty: async (_, { logs: answered }) => [...answered],
  });
  /** Discovers; returns the number of pools of each write. */
  const discover = async (source: EvmSource, writePools: number): Promise<number[]> => {
    const written: number[] = [];
    const listening: Store = Object.create(store, {
      write: {
        value: async (steps: Parameters<Store["write"]>[0]) => {
          for (const step of steps)
            if (step.kind === "put" && step.collection === pools) written.push(step.rows.length);
          await store.write(steps);
        },
      },
      get: { value: store.get.bind(store) },
      getMany: { value: store.getMany.bind(store) },
    });
    await discoverPools(listening, {
      source,
      factories: [FACTORY],
      toBlock: LAST,
      signal: new AbortController().signal,
      report: () => {},
      guard: () => [],
      writePools,
    });
    return written;
  };
  const expectAll = async (): Promise<void> => {
    const rows = await store.find(pools, { filter: { chainId: CHAIN_ID } });
    expect(rows.map((row) => row.poolAddress)).to.deep.equal(logs.map((_, n) => poolOf(n)));
    expect(await store.find(poolListings, {})).to.deep.equal(rows.map(toListing));
    expect(await store.count(tokens, { chainId: CHAIN_ID })).to.equal(2 * COUNT);
    const progress = { chainId: CHAIN_ID, factory: FACTORY.address, blockNumber: LAST };
    expect(await store.find(discoveries, {})).to.deep.equal([progress]);
  };

  it("writes found pools together, with their lists, and how far it came at the end", async () => {
    const written = await discover(sourceUpTo(Number.POSITIVE_INFINITY), 25);
    expect(written.reduce((sum, count) => sum + count, 0)).to.equal(COUNT);
    expect(written.length).to.be.within(2, 3);
    await expectAll();
  });

  it("finds again what was not written yet, and scans nothing else twice", async () => {
    const failed = await discover(sourceUpTo(60_000), 15).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(Error);
    const [done] = await store.find(discoveries, {});
    const kept = await store.count(pools, { chainId: CHAIN_ID });
    expect(kept).to.be.within(15, 40);
    expect(logs.filter((log) => log.blockNumber <= (done?.blockNumber ?? -1)).length).to.equal(kept);
    const written = await discover(sourceUpTo(Number.POSITIVE_INFINITY), 1_000);
    expect(written).to.deep.equal([COUNT - kept]);
    await expectAll();
    expect(await discover(sourceUpTo(0), 1_000)).to.deep.equal([]);
  });

  it("reports one progress over all factories, and resumes where it was interrupted", async () => {
    const other = { ...FACTORY, address: address(0xfad) };
    const factories = [FACTORY, other];
    const share = async (source: EvmSource): Promise<number[]> => {
      const model = new ProgressModel();
      const shares: number[] = [];
      let ms = 0;
      const scans = await planPools(store, { chainId: CHAIN_ID, factories, toBlock: LAST });
      model.apply({ stage: "plan", scans }, ms);
      await discoverPools(store, {
        ...{ source, factories, toBlock: LAST, guard: () => [], writePools: 5 },
        signal: new AbortController().signal,
        report(step) {
          ms += 1_000;
          model.apply(step, ms);
          shares.push(model.view(ms).share ?? -1);
        },
      }).catch(() => {});
      return shares;
    };
    const first = await share(sourceUpTo(60_000));
    const second = await share(sourceUpTo(Number.POSITIVE_INFINITY));
    const all = [...first, ...second];
    expect(all).to.deep.equal([...all].sort((a, b) => a - b));
    expect(first.at(-1)).to.be.within(0.4, 0.6);
    // From what was written, which is behind what was read.
    expect(second[0]).to.be.above(0.3);
    expect(all.at(-1)).to.equal(0.999);
  });

  describe("with several factories", () => {
    const OTHER = { ...FACTORY, address: address(0xfad), fromBlock: 30_000 } as const;
    const YOUNG = { ...FACTORY, address: address(0xfae), fromBlock: LAST + 50_000 } as const;
    const others = logs.map((log, n) => ({
      ...log,
      address: OTHER.address,
      data: `0x${word(10)}${word(poolOf(500 + n))}` as const,
    }));
    const chainLogs = [...logs, ...others].sort(
      (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
    );
    interface Asked {
      readonly from: number;
      readonly to: number;
      readonly addresses: readonly string[];
    }
    const listen = (failsFrom = Number.POSITIVE_INFINITY) => {
      const asked: Asked[] = [];
      const source: EvmSource = {
        ...sourceUpTo(failsFrom),
        async logs({ fromBlock, toBlock }, { addresses = [] }) {
          if (toBlock >= failsFrom) throw new Error("the node is gone");
          asked.push({ from: fromBlock, to: toBlock, addresses });
          return chainLogs.filter(
            (log) =>
              log.blockNumber >= fromBlock && log.blockNumber <= toBlock && addresses.includes(log.address),
          );
        },
      };
      return { source, asked };
    };
    const run = (
      source: EvmSource,
      options: { factories: readonly Factory[]; indexedTo?: number; writePools?: number },
    ) =>
      discoverPools(store, {
        ...{ source, toBlock: LAST, guard: () => [], report: () => {}, writePools: 10 },
        signal: new AbortController().signal,
        ...options,
      });
    const countOf = (factory: string) =>
      store.count(poolListings, { chainId: CHAIN_ID, family: "dexb", dexAddress: factory });
    const progressOf = async (factory: string) =>
      (await store.get(discoveries, { chainId: CHAIN_ID, factory }))?.blockNumber;

    it("reads each block once for all of them, and none before its factory's first", async () => {
      const { source, asked } = listen();
      await run(source, { factories: [FACTORY, OTHER, YOUNG] });
      const covered = (contract: string) => {
        const ranges = asked
          .filter(({ addresses }) => addresses.includes(contract))
          .sort((a, b) => a.from - b.from);
        for (const [i, { from }] of ranges.entries())
          if (i > 0) expect(from).to.equal((ranges[i - 1]?.to as number) + 1);
        return [ranges[0]?.from, ranges.at(-1)?.to];
      };
      expect(covered(FACTORY.address)).to.deep.equal([0, LAST]);
      expect(covered(OTHER.address)).to.deep.equal([OTHER.fromBlock, LAST]);
      expect(covered(YOUNG.address)).to.deep.equal([undefined, undefined]);
      const blocks = asked.reduce((sum, { from, to }) => sum + to - from + 1, 0);
      expect(blocks, "every block of the chain once").to.equal(LAST + 1);
      expect(await countOf(FACTORY.address)).to.equal(COUNT);
      expect(await countOf(OTHER.address)).to.equal(
        others.filter(({ blockNumber }) => blockNumber >= OTHER.fromBlock).length,
      );
      for (const { address: factory } of [FACTORY, OTHER, YOUNG])
        expect(await progressOf(factory)).to.equal(LAST);
    });

    it("resumes an index with the progress of each factory, as earlier versions wrote it", async () => {
      await store.write([
        put(discoveries, [
          { chainId: CHAIN_ID, factory: FACTORY.address, blockNumber: LAST },
          { chainId: CHAIN_ID, factory: OTHER.address, blockNumber: 69_999 },
        ]),
      ]);
      const { source, asked } = listen();
      await run(source, { factories: [FACTORY, OTHER] });
      expect(Math.min(...asked.map(({ from }) => from))).to.equal(70_000);
      expect(new Set(asked.flatMap(({ addresses }) => addresses))).to.deep.equal(new Set([OTHER.address]));
      expect(await countOf(FACTORY.address)).to.equal(0);
      expect(await countOf(OTHER.address)).to.equal(
        others.filter(({ blockNumber }) => blockNumber >= 70_000).length,
      );
    });

    it("lets a factory that was added later catch up with the indexed blocks, also over a kill", async () => {
      const indexedTo = LAST + 400_000;
      await run(listen().source, { factories: [FACTORY, YOUNG] });
      const factories = [FACTORY, OTHER, YOUNG];
      const failed = await run(listen(indexedTo - 50_000).source, {
        factories,
        indexedTo,
        writePools: 0,
      }).catch((error: unknown) => error);
      expect(failed).to.be.instanceOf(Error);
      expect(await progressOf(OTHER.address), "beyond the first discovery, and not done").to.equal(LAST - 1);
      const { source, asked } = listen();
      await run(source, { factories: [FACTORY, OTHER, YOUNG], indexedTo });
      expect(asked.map(({ to }) => to)).to.include(indexedTo);
      expect(new Set(asked.flatMap(({ addresses }) => addresses))).to.deep.equal(new Set([OTHER.address]));
      expect(await progressOf(OTHER.address), "as of the others").to.equal(LAST);
      const again = listen();
      await run(again.source, { factories: [FACTORY, OTHER, YOUNG], indexedTo: indexedTo + 5_000 });
      expect(again.asked).to.deep.equal([]);
    });

    it("finds the gauges of pools that are not written yet, and reads a voter again with a new factory", async () => {
      const voter = address(0x707);
      const rewards = { voter, token: address(1) } as const;
      const gauge = (n: number): RawLog =>
        gaugeLog(voter, { pool: poolOf(n), gauge: address(0xa000 + n), block: blockOf(n) + 1 });
      const made = [gauge(0), gauge(1), gauge(40), gauge(900)];
      const kind = "aerodrome-v2" as const;
      const factories = [
        { ...FACTORY, kind, rewards },
        { ...FACTORY, address: OTHER.address, kind, rewards },
      ];
      const creations = (factory: string, from: number) =>
        Array.from({ length: 4 }, (_, i) => v2Log(factory as `0x${string}`, from + i));
      const all = [...creations(FACTORY.address, 0), ...creations(OTHER.address, 40), ...made];
      const source: EvmSource = {
        ...createFakeSource({ call: answerCall }),
        head: async () => headerOf(LAST),
        logs: async ({ fromBlock, toBlock }, { addresses = [] }) =>
          all
            .filter(
              (log) =>
                log.blockNumber >= fromBlock && log.blockNumber <= toBlock && addresses.includes(log.address),
            )
            .sort((a, b) => a.blockNumber - b.blockNumber),
        headers: async (numbers) => numbers.map(headerOf),
        verifyEmpty: async (_, { logs: answered }) => [...answered],
      };
      await run(source, { factories: factories.slice(0, 1) });
      const known = async () => (await store.find(gauges, {})).map(({ poolAddress }) => poolAddress).sort();
      expect(await known()).to.deep.equal([poolOf(0), poolOf(1)]);
      await run(source, { factories });
      expect(await known()).to.deep.equal([poolOf(0), poolOf(1), poolOf(40)]);
      expect(await progressOf(voter)).to.equal(LAST);
    });
  });
});
