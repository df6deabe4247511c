import { expect } from "chai";
import { describe, it } from "mocha";
import { put, type Store } from "../port.ts";
import { type SuiteOptions, useStore } from "./fixture.ts";
import { LIST_QUERIES, SCAN_QUERIES } from "./list-queries.ts";
import { type SampleQuery, sample, samples } from "./sample.ts";

const SMALL = 500;
const LARGE = 50_000;
/**
 * A scan of the large collection takes up to a hundred times the small one's, less where each query has a cost of its
 * own; an index takes about the same. The limit is between: half of what the scan takes here and now.
 */
const LEAST_OF_A_SCAN = 6;
const ATTEMPTS = 4;

export function describePlans(options: SuiteOptions): void {
  describe("index use", () => {
    const large = { ...samples, name: "large_samples" } as typeof samples;
    const fixture = useStore(options, [samples, large]);
    const fill = async (target: typeof samples, count: number): Promise<void> => {
      const rows = Array.from({ length: count }, (_, i) =>
        sample(i, i % 100 === 0 ? { amount: null, tvlUsd: null } : {}),
      );
      for (let i = 0; i < count; i += 25_000)
        await fixture.store.write([put(target, rows.slice(i, i + 25_000))]);
    };

    it("serves every list query, and is distinguished from a scan", async () => {
      const { store } = fixture;
      await fill(samples, SMALL);
      const plans = await Promise.all(LIST_QUERIES.map(({ query }) => store.plan(samples, query)));
      const scans = await Promise.all(SCAN_QUERIES.map((query) => store.plan(samples, query)));
      if (!plans.includes("unknown")) {
        expect(Object.fromEntries(LIST_QUERIES.map(({ name }, i) => [name, plans[i]]))).to.deep.equal(
          Object.fromEntries(LIST_QUERIES.map(({ name }) => [name, "index"])),
        );
        expect(scans).to.deep.equal(SCAN_QUERIES.map(() => "scan"));
        return;
      }

      // The engine does not report its plan, so the time must show it: it may not grow with the collection.
      await fill(large, LARGE);
      const slowdown = (query: SampleQuery): Promise<number> =>
        compareTimes(store, { small: samples, large, query });
      const scan = await slowdown(SCAN_QUERIES[0] as SampleQuery);
      expect(scan, "a scan").to.be.greaterThan(LEAST_OF_A_SCAN);
      const inOrder = (await options.traits.readsIndexesInOrder?.()) ?? true;
      if (!inOrder)
        console.log("      (this server sorts every match: orders by an index are held by their shape only)");
      for (const { name, query, ordered } of LIST_QUERIES) {
        if (ordered && !inOrder) continue;
        let least = Number.POSITIVE_INFINITY;
        // A busy machine can slow every run of one attempt, but never makes a scan fast.
        for (let attempt = 0; attempt < ATTEMPTS && least >= scan / 2; attempt++) {
          least = Math.min(least, await slowdown(query));
        }
        expect(least, `${name}, over ${LARGE / SMALL} times the rows`).to.be.lessThan(scan / 2);
      }
    });
  });
}

/**
 * How many times longer the query takes over the large collection. The least of several runs on either side:
 * whatever else the machine does only ever makes a run slower.
 */
async function compareTimes(
  store: Store,
  { small, large, query }: { small: typeof samples; large: typeof samples; query: SampleQuery },
): Promise<number> {
  const best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let run = 0; run < 8; run++) {
    for (const [side, target] of [small, large].entries()) {
      const started = performance.now();
      await store.find(target, query);
      best[side] = Math.min(best[side] as number, performance.now() - started);
    }
  }
  return (best[1] as number) / (best[0] as number);
}
