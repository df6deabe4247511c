import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { createRangeSize } from "../../rpc-client/ranges/range-size.ts";
import { createFakeClock, type FakeClock } from "../../rpc-client/testkit/fake-network.ts";
import {
  type EvmSource,
  type Hex,
  type LogRange,
  RangeTooLarge,
  type RawLog,
  UpstreamError,
} from "../port.ts";
import { FULL_BLOOM, fakeHeader, fakeLog, NO_BLOOM, TOPIC } from "../testkit/fake-chain.ts";
import { type ScannedRange, type ScanOptions, scanLogs } from "./scan.ts";

type Source = Pick<EvmSource, "logs" | "headers" | "verifyEmpty">;

const FILTER = { topics: [TOPIC] };

/** A source that returns logs from a list, after the delays and refusals of a script. */
function createFakeSource(
  clock: FakeClock,
  all: readonly RawLog[],
  refuse: (range: LogRange, call: number) => Error | undefined,
) {
  const ranges: LogRange[] = [];
  let inFlight = 0;
  let mostInFlight = 0;
  const source: Source = {
    async logs(range) {
      const call = ranges.push(range);
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
      await clock.sleep(1 + ((call * 7919) % 13));
      inFlight -= 1;
      const error = refuse(range, call);
      if (error !== undefined) throw error;
      return all.filter((log) => log.blockNumber >= range.fromBlock && log.blockNumber <= range.toBlock);
    },
    headers: async (numbers) => numbers.map((number) => fakeHeader(number)),
    verifyEmpty: async (_, { logs }) => [...logs],
  };
  return { source, ranges, mostInFlight: () => mostInFlight };
}

interface Limits {
  readonly all: readonly RawLog[];
  readonly maxBlocks: number;
  readonly maxLogs: number;
  readonly words: "plain" | "suggested" | "limit" | "nonsense";
}

/** The refusal of a provider with these limits, in one of four manners. */
function refuseSize(range: LogRange, { all, maxBlocks, maxLogs, words }: Limits): RangeTooLarge | undefined {
  const { fromBlock, toBlock } = range;
  const span = toBlock - fromBlock + 1;
  const count = all.filter((log) => log.blockNumber >= fromBlock && log.blockNumber <= toBlock).length;
  if (span <= maxBlocks && count <= maxLogs) return undefined;
  const part = { fromBlock, toBlock: fromBlock + Math.max(0, Math.floor(span / 3) - 1) };
  if (words === "limit" && span > maxBlocks) return new RangeTooLarge("limit", undefined, { maxBlocks });
  if (words === "suggested") return new RangeTooLarge("suggested", part);
  if (words === "nonsense") return new RangeTooLarge("nonsense", range, { maxBlocks: span * 2 });
  return new RangeTooLarge("plain");
}

async function collect(scan: AsyncGenerator<ScannedRange>): Promise<ScannedRange[]> {
  const chunks: ScannedRange[] = [];
  for await (const chunk of scan) chunks.push(chunk);
  return chunks;
}

function options(clock: FakeClock, more: Partial<ScanOptions> = {}): ScanOptions {
  return { fromBlock: 1, toBlock: 1000, filter: FILTER, initialRange: 10, clock, ...more };
}

function expectGapless(chunks: readonly ScannedRange[], fromBlock: number, toBlock: number): void {
  let next = fromBlock;
  for (const { range, logs } of chunks) {
    expect(range.fromBlock).to.equal(next);
    for (const log of logs) expect(log.blockNumber).to.be.within(range.fromBlock, range.toBlock);
    next = range.toBlock + 1;
  }
  expect(next).to.equal(toBlock + 1);
}

/** One log in each of the blocks named. */
const logsAt = (blocks: readonly number[]) =>
  [...new Set(blocks)].sort((a, b) => a - b).map((block) => fakeLog(block));

describe("scanLogs", () => {
  it("returns every log once and in order, whatever the limits and failures", () =>
    fc.assert(
      fc.asyncProperty(
        fc.record({
          blocks: fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 120 }),
          toBlock: fc.integer({ min: 0, max: 400 }),
          initialRange: fc.integer({ min: 1, max: 600 }),
          maxRange: fc.integer({ min: 1, max: 600 }),
          concurrency: fc.integer({ min: 1, max: 6 }),
          targetLogs: fc.integer({ min: 1, max: 50 }),
          maxBlocks: fc.integer({ min: 1, max: 400 }),
          maxLogs: fc.integer({ min: 1, max: 40 }),
          words: fc.constantFrom("plain", "suggested", "limit", "nonsense"),
          failEvery: fc.integer({ min: 2, max: 9 }),
        }),
        async ({ blocks, toBlock, maxBlocks, maxLogs, words, failEvery, ...sizes }) => {
          const clock = createFakeClock();
          const all = logsAt(blocks);
          const failed = new Map<number, number>();
          const { source } = createFakeSource(clock, all, (range, call) => {
            const refusal = refuseSize(range, { all, maxBlocks, maxLogs, words });
            if (refusal !== undefined) return refusal;
            // Any block may make its request fail, but not for ever.
            const before = failed.get(range.fromBlock) ?? 0;
            if (call % failEvery !== 0 || before >= 2) return undefined;
            failed.set(range.fromBlock, before + 1);
            return new UpstreamError("down");
          });
          const chunks = await clock.run(collect(scanLogs(source, options(clock, { ...sizes, toBlock }))));
          expectGapless(chunks, 1, toBlock);
          expect(chunks.flatMap((chunk) => chunk.logs)).to.deep.equal(
            all.filter((log) => log.blockNumber <= toBlock),
          );
        },
      ),
      { numRuns: 150 },
    ));

  it("requests nothing when the range is empty", async () => {
    const clock = createFakeClock();
    const { source, ranges } = createFakeSource(clock, [], () => undefined);
    expect(await collect(scanLogs(source, options(clock, { fromBlock: 5, toBlock: 4 })))).to.deep.equal([]);
    expect(ranges).to.have.length(0);
  });

  it("doubles while it works and stays within the concurrency", async () => {
    const clock = createFakeClock();
    const { source, ranges, mostInFlight } = createFakeSource(clock, [], () => undefined);
    await clock.run(collect(scanLogs(source, options(clock, { toBlock: 1_000_000, concurrency: 3 }))));
    expect(mostInFlight()).to.equal(3);
    expect(ranges.length).to.be.lessThan(60);
  });

  it("stops requesting while the consumer does not read", async () => {
    const clock = createFakeClock();
    const { source, ranges } = createFakeSource(clock, [], () => undefined);
    const scan = scanLogs(source, options(clock, { maxRange: 10, concurrency: 2, maxBuffered: 5 }));
    await clock.run(scan.next());
    await clock.run(clock.sleep(1_000));
    const before = ranges.length;
    expect(before).to.be.at.most(6);
    await clock.run(clock.sleep(1_000));
    expect(ranges.length).to.equal(before);
    await scan.return();
    await clock.run(clock.sleep(1_000));
    expect(ranges.length).to.equal(before);
  });

  it("throws the signal's reason when it is aborted", async () => {
    const clock = createFakeClock();
    const { source } = createFakeSource(clock, [], () => undefined);
    const stop = new AbortController();
    const scan = scanLogs(source, options(clock, { signal: stop.signal }));
    await clock.run(scan.next());
    const next = scan.next();
    stop.abort(new Error("enough"));
    // What was ready may still come; after that the reason.
    const error = await clock.run(
      next
        .then(() => scan.next())
        .then(
          () => undefined,
          (reason: Error) => reason.message,
        ),
    );
    expect(error).to.equal("enough");
  });

  it("yields everything before a range that fails, then throws", async () => {
    const clock = createFakeClock();
    const all = logsAt([5, 50, 77, 90]);
    const { source } = createFakeSource(clock, all, ({ fromBlock, toBlock }) =>
      fromBlock <= 77 && toBlock >= 77 ? new UpstreamError("gone") : undefined,
    );
    const chunks: ScannedRange[] = [];
    let error: unknown;
    try {
      const scan = scanLogs(source, options(clock, { toBlock: 100 }));
      for (;;) {
        const step = await clock.run(scan.next());
        if (step.done === true) break;
        chunks.push(step.value);
      }
    } catch (thrown) {
      error = thrown;
    }
    expect(error).to.be.instanceOf(UpstreamError);
    const last = chunks[chunks.length - 1]?.range.toBlock ?? 0;
    expect(last).to.be.within(50, 76);
    expectGapless(chunks, 1, last);
    expect(chunks.flatMap((chunk) => chunk.logs)).to.deep.equal(logsAt([5, 50]));
  });

  it("does not retry programming errors", async () => {
    const clock = createFakeClock();
    const { source, ranges } = createFakeSource(clock, [], () => new TypeError("bug"));
    const error = await clock.run(
      collect(scanLogs(source, options(clock, { concurrency: 1 }))).catch((thrown: unknown) => thrown),
    );
    expect(error).to.be.instanceOf(TypeError);
    expect(ranges).to.have.length(1);
  });

  it("detects an empty response by the blooms of a sample and then checks all blocks", async () => {
    const clock = createFakeClock();
    const all = logsAt(Array.from({ length: 100 }, (_, i) => i + 1));
    const { source } = createFakeSource(clock, [], () => undefined);
    const looked: number[] = [];
    const suspicious: Source = {
      ...source,
      async verifyEmpty(headers, { logs }) {
        looked.push(headers.length);
        const numbers = new Set(headers.map((header) => header.number));
        return [...logs, ...all.filter((log) => numbers.has(log.blockNumber))].sort(
          (a, b) => a.blockNumber - b.blockNumber,
        );
      },
    };
    const chunks = await clock.run(
      collect(scanLogs(suspicious, options(clock, { toBlock: 100, initialRange: 100, verifyBlocks: 4 }))),
    );
    expect(looked).to.deep.equal([4, 100]);
    expect(chunks.flatMap((chunk) => chunk.logs)).to.deep.equal(all);
  });

  describe("with a share of checked blocks", () => {
    /** Counts headers and suspects of a chain of blooms, read in ranges of `maxBlocks`. */
    const count = async (
      maxBlocks: number,
      bloomAt: (number: number) => Hex,
      more: Partial<ScanOptions> = {},
    ) => {
      const clock = createFakeClock();
      const { source } = createFakeSource(clock, [], () => undefined);
      const read: number[] = [];
      let believed = 0;
      const counting: Source = {
        ...source,
        headers: async (numbers) => {
          read.push(...numbers);
          return numbers.map((number) => fakeHeader(number, { logsBloom: bloomAt(number) }));
        },
        async verifyEmpty(headers, { logs }) {
          believed += headers.length;
          return [...logs];
        },
      };
      const limits = { verifyBlocks: 20, verifyShare: 0.01, maxFalseRate: 0.25, ...more };
      const scan = { toBlock: 9_999, initialRange: maxBlocks, maxRange: maxBlocks, ...limits };
      await clock.run(collect(scanLogs(counting, options(clock, scan))));
      return { read, believed };
    };

    it("reads that share of the headers, however short the ranges are", async () => {
      for (const maxBlocks of [5, 10, 100, 1_000]) {
        const { read, believed } = await count(maxBlocks, () => NO_BLOOM);
        expect(read.length, `${maxBlocks} blocks`).to.be.within(95, 100);
        expect(believed).to.equal(read.length);
      }
      expect((await count(10_000, () => NO_BLOOM)).read).to.have.length(20);
    });

    it("checks the first blocks beyond that share", async () => {
      const { read } = await count(10, () => NO_BLOOM, { verifyAllowance: 60 });
      expect(read.length).to.be.within(155, 160);
      // Answers of four requests come in any order.
      expect(read.filter((number) => number < 120)).to.have.length.within(60, 63);
    });

    it("believes no bloom that is full, and hardly reads any until one tells again", async () => {
      const busy = await count(1_000, () => FULL_BLOOM);
      // What is in flight when the first sample turns out mute, and one a range after that.
      expect(busy.read.length).to.be.below(10 * 4 + 10);
      expect(busy.believed).to.equal(0);
      const later = await count(1_000, (number) => (number < 5_000 ? FULL_BLOOM : NO_BLOOM));
      expect(later.believed).to.be.above(20);
      expect(later.read.filter((number) => number < 5_000).length).to.be.below(50);
    });
  });
});

describe("createRangeSize", () => {
  const create = (initial: number, max = 10_000) =>
    createRangeSize({ initial, max, targetLogs: 1000, successesToProbe: 20 });
  const run = (size: ReturnType<typeof create>, limit: number, requests: number) => {
    let refused = 0;
    let blocks = 0;
    for (let i = 0; i < requests; i++) {
      const requested = size.current();
      if (requested <= limit) {
        size.succeed(requested, 0);
        blocks += requested;
      } else {
        refused += 1;
        size.refuse(requested, { suggested: undefined, maxBlocks: undefined });
      }
    }
    return { refused, blocks };
  };

  it("doubles up to the maximum", () => {
    const size = create(1);
    run(size, Number.POSITIVE_INFINITY, 20);
    expect(size.current()).to.equal(10_000);
  });

  it("settles near a silent limit with few refusals", () => {
    const size = create(1);
    const { refused, blocks } = run(size, 700, 300);
    expect(refused).to.be.lessThan(75);
    expect(blocks / (300 - refused)).to.be.greaterThan(500);
  });

  it("jumps to a limit that was named and stays below it", () => {
    const size = create(4000);
    size.refuse(4000, { suggested: undefined, maxBlocks: 500 });
    expect(size.current()).to.equal(500);
    expect(run(size, 500, 300).refused).to.equal(0);
  });

  it("tries a larger size again in the end, also above a limit that was named", () => {
    const size = create(4000);
    size.refuse(4000, { suggested: undefined, maxBlocks: 500 });
    run(size, Number.POSITIVE_INFINITY, 400);
    expect(size.current()).to.equal(10_000);
  });

  it("grows again after a bad hour", () => {
    const size = create(2000);
    for (let i = 0; i < 30; i++) size.halve(size.current());
    expect(size.current()).to.equal(1);
    run(size, Number.POSITIVE_INFINITY, 60);
    expect(size.current()).to.equal(10_000);
  });

  it("aims at the target number of logs per response", () => {
    const size = create(1000);
    for (let i = 0; i < 20; i++) size.succeed(size.current(), size.current() * 10);
    expect(size.current()).to.equal(100);
  });

  it("takes the range that was named", () => {
    const size = create(1000);
    size.refuse(1000, { suggested: { fromBlock: 1, toBlock: 123 }, maxBlocks: undefined });
    expect(size.current()).to.equal(123);
  });
});
