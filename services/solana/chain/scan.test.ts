import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { createFakeClock, type FakeClock } from "../../shared/rpc-client/testkit/fake-network.ts";
import { randomRuns } from "../../shared/testkit/describe.ts";
import { type SolanaBlock, type SolanaSource, SolanaUpstreamError } from "./port.ts";
import { type BlockBatch, type SlotScanOptions, scanBlocks } from "./scan.ts";
import { catchError, fakeBlocks, fakeTransaction } from "./testkit/fake-chain.ts";

const COMMITMENT = "finalized" as const;

/** A source with these blocks, after delays, with the failures of a script. */
function createFakeSource(
  clock: FakeClock,
  blocks: () => readonly SolanaBlock[],
  fail: (call: number) => Error | undefined = () => undefined,
) {
  const requested: { fromSlot: number; toSlot: number }[] = [];
  let inFlight = 0;
  let mostInFlight = 0;
  const source: Pick<SolanaSource, "blocks"> = {
    async blocks(range) {
      const call = requested.push(range);
      mostInFlight = Math.max(mostInFlight, ++inFlight);
      await clock.sleep(1 + ((call * 7919) % 13));
      inFlight -= 1;
      const error = fail(call);
      if (error !== undefined) throw error;
      return blocks().filter(({ slot }) => slot >= range.fromSlot && slot <= range.toSlot);
    },
  };
  return { source, requested, mostInFlight: () => mostInFlight };
}

async function collect(scan: AsyncGenerator<BlockBatch>): Promise<BlockBatch[]> {
  const parts: BlockBatch[] = [];
  for await (const part of scan) parts.push(part);
  return parts;
}

const options = (more: Partial<SlotScanOptions> = {}): SlotScanOptions => ({
  fromSlot: 100,
  toSlot: 199,
  commitment: COMMITMENT,
  ...more,
});

describe("scanBlocks", () => {
  it("yields every block once and in order, whatever is skipped and fails", async () => {
    const skipped = fc.uniqueArray(fc.integer({ min: 100, max: 299 }), { maxLength: 80 });
    const failing = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        skipped,
        failing,
        fc.integer({ min: 1, max: 5 }),
        async (gaps, failures, concurrency) => {
          const clock = createFakeClock();
          const all = fakeBlocks(
            Array.from({ length: 200 }, (_, i) => 100 + i).filter((slot) => !gaps.includes(slot)),
          );
          const fake = createFakeSource(
            clock,
            () => all,
            (call) => (failures.includes(call) ? new SolanaUpstreamError("down") : undefined),
          );
          const parts = await clock
            .run(collect(scanBlocks(fake.source, options({ toSlot: 299, concurrency }))))
            .catch(() => undefined);
          // Six failures may hit the same segment; what was yielded is complete even then.
          if (parts === undefined) return;
          expect(parts.flatMap(({ blocks }) => blocks)).to.deep.equal(all);
          const ends = parts.map(({ fromSlot, toSlot }) => [fromSlot, toSlot]);
          expect(ends[0]?.[0]).to.equal(100);
          expect(ends.at(-1)?.[1]).to.equal(299);
          for (let i = 1; i < ends.length; i++) expect(ends[i]?.[0]).to.equal((ends[i - 1]?.[1] ?? 0) + 1);
          expect(fake.mostInFlight()).to.be.at.most(concurrency);
        },
      ),
      { numRuns: randomRuns(100) },
    );
  });

  it("requests no more than the consumer's buffer holds", async () => {
    const clock = createFakeClock();
    const fake = createFakeSource(clock, () => fakeBlocks(Array.from({ length: 100 }, (_, i) => 100 + i)));
    const scan = scanBlocks(
      fake.source,
      options({ initialRange: 2, maxRange: 2, concurrency: 2, maxBuffered: 4 }),
    );
    await clock.run(scan.next());
    await clock.run(clock.sleep(1_000));
    expect(fake.requested.length).to.be.at.most(5);
    await scan.return();
  });

  it("requests fewer slots where they are full", async () => {
    const clock = createFakeClock();
    const transactions = Array.from({ length: 1_000 }, (_, i) => fakeTransaction(i));
    const full = fakeBlocks(Array.from({ length: 400 }, (_, i) => 100 + i)).map((block) => ({
      ...block,
      transactions,
    }));
    const fake = createFakeSource(clock, () => full);
    const parts = await clock.run(
      collect(scanBlocks(fake.source, options({ initialRange: 32, toSlot: 499 }))),
    );
    expect(parts.at(-2)?.blocks.length).to.be.at.most(4);
    expect(parts.flatMap(({ blocks }) => blocks)).to.have.length(400);
  });

  it("yields everything before a range that cannot be read, then throws", async () => {
    const clock = createFakeClock();
    const all = fakeBlocks(Array.from({ length: 100 }, (_, i) => 100 + i));
    const fake = createFakeSource(clock, () => all);
    const source: Pick<SolanaSource, "blocks"> = {
      async blocks(range) {
        if (range.toSlot >= 150) throw new SolanaUpstreamError("slot 150 cannot be had");
        return fake.source.blocks(range);
      },
    };
    const given: number[] = [];
    const run = async () => {
      for await (const { blocks } of scanBlocks(source, options()))
        given.push(...blocks.map(({ slot }) => slot));
    };
    expect((await catchError(clock.run(run()))).message).to.equal("slot 150 cannot be had");
    expect(given).to.deep.equal(all.slice(0, given.length).map(({ slot }) => slot));
    expect(given.length).to.be.at.least(40);
  });

  it("reads a range of another fork than the one before again, and throws if it stays so", async () => {
    const clock = createFakeClock();
    const trunk = fakeBlocks([100, 101, 102, 103]);
    const parent = trunk[3] as SolanaBlock;
    const forks = [1, 2].map((fork) => [...trunk, ...fakeBlocks([104, 105, 106, 107], { fork, parent })]);
    const size = { initialRange: 2, maxRange: 2, concurrency: 1, toSlot: 107 };
    let calls = 0;
    // 104-105 of one fork, 106-107 of the other at first.
    const wavering = createFakeSource(clock, () => forks[calls++ === 3 ? 1 : 0] ?? []);
    const parts = await clock.run(collect(scanBlocks(wavering.source, options(size))));
    expect(parts.flatMap(({ blocks }) => blocks)).to.deep.equal(forks[0]);
    calls = 0;
    const torn = createFakeSource(clock, () => forks[calls++ >= 3 ? 1 : 0] ?? []);
    const error = await catchError(clock.run(collect(scanBlocks(torn.source, options(size)))));
    expect(error).to.be.instanceOf(SolanaUpstreamError);
    expect(error.message).to.contain("slot 106 names slot 105 as its parent");
  });

  it("does not retry a programming error, and ends with the signal", async () => {
    const clock = createFakeClock();
    const fake = createFakeSource(
      clock,
      () => [],
      () => new RangeError("ours"),
    );
    expect(await catchError(clock.run(collect(scanBlocks(fake.source, options()))))).to.be.instanceOf(
      RangeError,
    );
    const stop = AbortSignal.abort(new Error("stopped"));
    expect((await catchError(collect(scanBlocks(fake.source, options({ signal: stop }))))).message).to.equal(
      "stopped",
    );
    expect(await collect(scanBlocks(fake.source, options({ toSlot: 99 })))).to.deep.equal([]);
  });
});
