import { expect } from "chai";
import fc from "fast-check";
import { it } from "mocha";
import type { Store } from "../../../shared/storage/port.ts";
import { describeLong, randomRuns } from "../../../shared/testkit/describe.ts";
import { countMatching } from "../../metrics/segment-counts.ts";
import { type SegmentRow, segments, tokenRows } from "../../store/collections.ts";
import { transactions } from "../../test/arbitrary-transactions.ts";
import { buildSegments } from "../../test/build-segments.ts";
import { FakeCluster } from "../../test/fake-cluster.ts";
import { openTestStore } from "../../test/store.ts";
import { openCheckpoint } from "../start-slot.ts";
import { SolanaSync } from "../sync.ts";
import { SegmentBuilder } from "./segment-builder.ts";

const ROWS = 7;
/** A process that is new to a list counts its rows only once it has grown by so many. */
const ROWS_UNCOUNTED = 64;

async function openSync(cluster: FakeCluster, store: Store): Promise<SolanaSync> {
  const { source, reader } = cluster;
  let ms = 0;
  return SolanaSync.open(
    {
      ...{ store, source, reader, signal: new AbortController().signal },
      ...{ log: () => {}, report: () => {}, guard: () => [], now: () => (ms += 10_000) },
      hooks: [new SegmentBuilder({ store, guard: () => [], segmentRows: ROWS })],
    },
    await openCheckpoint(store, { source, reader, startSlot: 0 }),
  );
}

/** Blocks one by one, some at a time final, forks, and another process now and then. */
async function live(
  store: Store,
  options: {
    rounds: readonly {
      held: typeof transactions extends fc.Arbitrary<infer T> ? T : never;
      chance: number;
    }[];
  },
): Promise<FakeCluster> {
  const cluster = new FakeCluster();
  cluster.produce({ blockTime: 1_700_000_000, transactions: [] });
  cluster.finalize(0);
  let sync = await openSync(cluster, store);
  const look = async () => {
    for (;;) {
      const moved = await sync.step().catch(async () => {
        await sync.handleReorg();
        return true;
      });
      if (!moved) return;
    }
  };
  for (const { held, chance } of options.rounds) {
    cluster.produce({ blockTime: null, transactions: held });
    if (chance % 7 === 0) cluster.fork(chance % 3);
    if (chance % 5 === 0) cluster.finalize(chance % 4);
    if (chance % 2 === 0) await look();
    if (chance % 11 === 0) sync = await openSync(cluster, store);
  }
  // Some segments a turn.
  for (let i = 0; i < 30; i++) {
    cluster.produce({ blockTime: null, transactions: [] });
    cluster.finalize(0);
    await look();
  }
  return cluster;
}

/** Counts by what queries filter by, whatever numbers stand for tokens. */
function countsOf({ mints, counts, list }: SegmentRow): unknown[] {
  const names = mints as string[];
  const whose = list.startsWith("pool ") ? [...names].sort() : [0, 1, 2, 3];
  return whose.flatMap((name) =>
    [0, 1, 2, 3].map((txType) => {
      const group = typeof name === "number" ? name : names.indexOf(name);
      const all = countMatching(counts as number[], { group, txTypes: [txType] });
      const valued = countMatching(counts as number[], { group, txTypes: [txType], minValueUsd: 1 });
      return [name, txType, all, valued];
    }),
  );
}

describeLong("SegmentBuilder", () => {
  it("counts lists in whole slots as they grow, as counting them from the start would", async () => {
    const round = fc.record({ held: transactions, chance: fc.nat(1_000) });
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 40, maxLength: 70 }), async (rounds) => {
        const store = await openTestStore();
        const reference = await openTestStore();
        try {
          const cluster = await live(store, { rounds });
          await (await openSync(cluster, reference)).step();
          await reference.write([{ kind: "removeWhere", collection: segments, filter: {} }]);
          await buildSegments(reference, { rows: ROWS, upTo: cluster.finalSlot });
          const expected = await reference.find(segments, {});
          const byKey = new Map(expected.map((row) => [`${row.list} ${row.number}`, row]));
          for (const row of await store.find(segments, {})) {
            const other = byKey.get(`${row.list} ${row.number}`) as SegmentRow;
            const { counts: _, mints: __, ...rest } = row;
            expect(other).to.include(rest);
            expect(countsOf(row)).to.deep.equal(countsOf(other));
          }
        } finally {
          await store.close();
          await reference.close();
        }
      }),
      { numRuns: randomRuns(12) },
    );
  });

  it("leaves little more than a segment of a growing list open, also when processes start and end", async () => {
    const [held = []] = fc.sample(
      transactions.filter((each) =>
        each.flatMap(({ events }) => events).some(({ kind }) => kind === "trade"),
      ),
      { numRuns: 1, seed: 3 },
    );
    const store = await openTestStore();
    const cluster = new FakeCluster();
    for (let i = 0; i < 400; i++) {
      cluster.produce({ blockTime: null, transactions: i === 0 ? [] : held });
      if (i === 0) cluster.produce({ blockTime: 1_700_000_000, transactions: [] });
      cluster.finalize(0);
      if (i % 80 !== 79) continue;
      const sync = await openSync(cluster, store);
      while (await sync.step());
    }
    const sync = await openSync(cluster, store);
    for (let i = 0; i < 100; i++) {
      cluster.produce({ blockTime: null, transactions: held });
      cluster.finalize(0);
      await sync.step();
    }
    const mints = new Set((await store.find(tokenRows, { fields: ["mint"] })).map(({ mint }) => mint));
    for (const mint of mints) {
      const known = await store.find(segments, { filter: { list: `token ${mint}` } });
      const open = await store.count(tokenRows, { mint, slot: { gt: known.at(-1)?.lastSlot ?? 0 } });
      expect(open, `${open} rows after ${known.length} segments`).to.be.below(2 * ROWS + ROWS_UNCOUNTED);
      expect(known.length).to.be.greaterThan(20);
      expect(known.map(({ number }) => number)).to.deep.equal(known.map((_, i) => i));
    }
    await store.close();
  });
});
