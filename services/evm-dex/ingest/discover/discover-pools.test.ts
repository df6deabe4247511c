import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { BlockHeader, EvmSource, RawLog } from "../../../shared/evm/port.ts";
import { ProgressModel } from "../../../shared/ingest-status/progress-model.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { discoveries, poolListings, pools, tokens } from "../../store/collections.ts";
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
    ...createFakeSource({ call: () => null }),
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
      head: LAST,
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
        ...{ source, factories, toBlock: LAST, head: LAST, guard: () => [], writePools: 5 },
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
    expect(first.at(-1)).to.be.within(0.1, 0.3);
    expect(second[0]).to.be.above(0.05);
    // A whole factory of two is no more than half.
    expect(all.some((each) => each > 0.45 && each <= 0.5)).to.equal(true);
    expect(all.at(-1)).to.equal(0.999);
  });
});
