import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { Hex, RawLog } from "../../../shared/evm/port.ts";
import { transfer as decoder } from "../../protocols/aerodrome-v2/decode/pool.ts";
import {
  createLogChain,
  type Emitted,
  type LogChain,
  type LogChainOptions,
} from "../../test/kit/log-chain.ts";
import { address } from "../../test/kit/rows.ts";
import { transfer } from "../../test/v2/aerodrome-logs.ts";
import { readTransfers, TransferScan } from "./transfers.ts";
import { WatchedPools } from "./watched-pools.ts";

const POOLS = Array.from({ length: 5 }, (_, i) => address(0x900 + i));
const [ANN, BOB] = [address(0xa), address(0xb)];
const topics = [decoder.topic];
const signal = new AbortController().signal;

/** Blocks with Transfers of the pools named, one transaction each. */
function chainOf(blocks: readonly (readonly number[])[], options: LogChainOptions = {}): LogChain {
  return createLogChain(
    blocks.map((pools) => pools.map((pool): Emitted[] => [transfer(POOLS[pool] as Hex, BOB, { from: ANN })])),
    options,
  );
}

function sourceOf(source: LogChain, watched: readonly Hex[], maxAddresses = 100) {
  const watchedPools = new WatchedPools(watched);
  return { source, topics, watchedPools, maxAddresses };
}

const places = (logs: readonly RawLog[]) => logs.map((log) => `${log.blockNumber}:${log.logIndex}`);

describe("TransferScan", () => {
  it("returns a long run's Transfers of watched pools piece by piece, in few requests", async () => {
    const blocks = Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? [0, 4] : i % 3 === 1 ? [1] : []));
    const chain = chainOf(blocks);
    const transfers = sourceOf(chain, [POOLS[0] as Hex, POOLS[1] as Hex]);
    const scan = new TransferScan(transfers, { from: 1, to: 40, signal });
    const taken: RawLog[] = [];
    for (let from = 1; from <= 40; from += 8) {
      const piece = await scan.take({ fromBlock: from, toBlock: from + 7 }, []);
      for (const log of piece) expect(log.blockNumber).to.be.within(from, from + 7);
      taken.push(...piece);
    }
    const expected = blocks.flatMap((pools, i) => (pools.length === 0 ? [] : [`${i + 1}:0`]));
    expect(places(taken)).to.deep.equal(expected);
    expect(chain.requested.map(({ range }) => range)).to.deep.equal([{ fromBlock: 1, toBlock: 40 }]);
  });

  it("misses and repeats nothing of pools that are watched from a later piece on", async () => {
    const run = fc.record({
      blocks: fc.array(fc.subarray([0, 1, 2, 3, 4]), { minLength: 1, maxLength: 60 }),
      sizes: fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 60, maxLength: 60 }),
      /** The piece from which on each pool is watched. */
      since: fc.array(fc.nat(6), { minLength: 5, maxLength: 5 }),
      maxAddresses: fc.integer({ min: 1, max: 4 }),
      ahead: fc.boolean(),
      windows: fc.record({ first: fc.integer({ min: 1, max: 12 }), most: fc.constantFrom(12, 30, 500) }),
    });
    await fc.assert(
      fc.asyncProperty(run, async ({ blocks, sizes, since, maxAddresses, ahead, windows }) => {
        const transfers = sourceOf(chainOf(blocks), [], maxAddresses);
        const scan = new TransferScan(transfers, { from: 1, to: blocks.length, signal, windows });
        const pending: Promise<RawLog[]>[] = [];
        const expected: string[] = [];
        let from = 1;
        for (let piece = 0; from <= blocks.length; piece++) {
          const to = Math.min(blocks.length, from + (sizes[piece] as number) - 1);
          const fresh = POOLS.filter((pool, i) => since[i] === piece && !transfers.watchedPools.has(pool));
          for (const pool of fresh) transfers.watchedPools.add(pool);
          const taken = scan.take({ fromBlock: from, toBlock: to }, fresh);
          // Pieces are requested while earlier ones are still on their way.
          if (!ahead) await taken;
          pending.push(taken);
          for (let block = from; block <= to; block++) {
            blocks[block - 1]?.forEach((pool, i) => {
              if ((since[pool] as number) <= piece) expected.push(`${block}:${i}`);
            });
          }
          from = to + 1;
        }
        const taken = (await Promise.all(pending)).flat();
        // A pool that is watched later may add Transfers from the window's start, before its piece: they are extra.
        expect(places(taken)).to.include.members(expected);
        expect(new Set(places(taken)).size).to.equal(taken.length);
        expect(places(taken)).to.deep.equal(places([...taken].sort(byPlace)));
      }),
      { numRuns: 200 },
    );
  });

  it("asks for the next window before it is needed, and then for the pools that are watched since", async () => {
    const chain = chainOf(Array.from({ length: 16 }, () => [0, 1]));
    const transfers = sourceOf(chain, [POOLS[0] as Hex]);
    const scan = new TransferScan(transfers, { from: 1, to: 16, signal, windows: { first: 8, most: 8 } });
    await scan.take({ fromBlock: 1, toBlock: 5 }, []);
    expect(chain.requested).to.have.length(1);
    await scan.take({ fromBlock: 6, toBlock: 6 }, []);
    expect(chain.requested.at(-1)?.range).to.deep.equal({ fromBlock: 9, toBlock: 16 });
    transfers.watchedPools.add(POOLS[1] as Hex);
    const found = await scan.take({ fromBlock: 7, toBlock: 16 }, [POOLS[1] as Hex]);
    const all = Array.from({ length: 10 }, (_, i) => [`${i + 7}:0`, `${i + 7}:1`]).flat();
    expect(places(found)).to.deep.equal(all);
    const asked = chain.requested.slice(2).map(({ range }) => range);
    expect(asked).to.deep.equal([
      { fromBlock: 7, toBlock: 8 },
      { fromBlock: 9, toBlock: 16 },
    ]);
  });

  it("detects a response that lacks logs, by the blooms", async () => {
    const chain = chainOf([[0], [], [0], [1], [0]]);
    chain.withhold((log) => log.blockNumber === 3);
    const scan = new TransferScan(sourceOf(chain, [POOLS[0] as Hex]), { from: 1, to: 5, signal });
    expect(places(await scan.take({ fromBlock: 1, toBlock: 5 }, []))).to.deep.equal(["1:0", "3:0", "5:0"]);
  });

  it("does not read every block again where the blooms are too full", async () => {
    const chain = chainOf([[0], [], [0]], { fullBlooms: true });
    const scan = new TransferScan(sourceOf(chain, [POOLS[0] as Hex]), { from: 1, to: 3, signal });
    expect(places(await scan.take({ fromBlock: 1, toBlock: 3 }, []))).to.deep.equal(["1:0", "3:0"]);
    expect(chain.lookedAt).to.deep.equal([]);
    expect(chain.headerRequests.flat().length).to.be.at.most(8);
  });

  it("takes some 300 requests for a week of Base and 5,000 pools", async () => {
    const week = (7 * 86_400) / 2;
    let requests = 0;
    let headers = 0;
    const source = {
      ...createLogChain([]),
      headers: async (numbers: readonly number[]) => {
        headers += numbers.length;
        return numbers.map((number) => ({
          number,
          hash: address(number),
          parentHash: address(number - 1),
          timestamp: number,
          logsBloom: `0x${"ff".repeat(256)}` as Hex,
        }));
      },
      logs: async () => {
        requests += 1;
        return [];
      },
    };
    const watched = Array.from({ length: 5_000 }, (_, i) => address(0x10_000 + i));
    const scan = new TransferScan(sourceOf(source, watched, 1_000), { from: 1, to: week, signal });
    for (let from = 1; from <= week; from += 50)
      await scan.take({ fromBlock: from, toBlock: Math.min(week, from + 49) }, []);
    expect(requests).to.be.within(300, 330);
    expect(headers).to.be.at.most(8 * 66);
  });

  it("requests nothing while no pool is watched", async () => {
    const chain = chainOf([[0], [1]]);
    const scan = new TransferScan(sourceOf(chain, []), { from: 1, to: 2, signal });
    expect(await scan.take({ fromBlock: 1, toBlock: 2 }, [])).to.deep.equal([]);
    expect(chain.requested).to.deep.equal([]);
  });

  it("fails with the source's error, once, and continues", async () => {
    const chain = chainOf([[0], [0]]);
    let failures = 1;
    const failing = {
      ...chain,
      logs: (...options: Parameters<typeof chain.logs>) => {
        if (failures-- > 0) throw new Error("gone");
        return chain.logs(...options);
      },
    };
    const scan = new TransferScan(sourceOf(failing, [POOLS[0] as Hex]), { from: 1, to: 2, signal });
    const error = await scan.take({ fromBlock: 1, toBlock: 1 }, []).catch((caught: unknown) => caught);
    expect((error as Error).message).to.equal("gone");
    expect(places(await scan.take({ fromBlock: 1, toBlock: 2 }, []))).to.deep.equal(["1:0", "2:0"]);
  });
});

describe("readTransfers", () => {
  const range = { fromBlock: 2, toBlock: 4 };
  const pools = [POOLS[1] as Hex, POOLS[2] as Hex];
  const read = async (chain: LogChain) => {
    const headers = (await chain.headers([2, 3, 4])).flatMap((header) => header ?? []);
    return places(await readTransfers(sourceOf(chain, []), { range, pools, headers }));
  };

  it("reads a range of some pools, and requests no header twice", async () => {
    const chain = chainOf([[0], [1], [0, 1], [2]]);
    expect(await read(chain)).to.deep.equal(["2:0", "3:1", "4:0"]);
    expect(chain.headerRequests).to.have.length(1);
  });

  it("detects withheld logs by the blooms", async () => {
    const chain = chainOf([[0], [1], [0, 1], [2]]);
    chain.withhold((log) => log.blockNumber === 4);
    expect(await read(chain)).to.deep.equal(["2:0", "3:1", "4:0"]);
    const full = chainOf([[0], [1], [0, 1], [2]], { fullBlooms: true });
    full.withhold((log) => log.blockNumber === 4);
    expect(await read(full)).to.deep.equal(["2:0", "3:1"]);
    expect(full.lookedAt).to.deep.equal([]);
  });
});

function byPlace(a: RawLog, b: RawLog): number {
  return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
}
