import { expect } from "chai";
import { describe, it } from "mocha";
import { type Collection, put, type Store } from "../port.ts";
import { type SuiteOptions, useStore } from "./fixture.ts";
import { type SampleQuery, sample, samples } from "./sample.ts";

const SMALL = 500;
const LARGE = 50_000;
/** A scan of the large collection takes a hundred times the small one's; an index about the same time. */
const MOST_TIMES_SLOWER = 15;

/** Selects and orders as the endpoints do; each has at most 20 rows to read. */
const LIST_QUERIES: readonly [name: string, query: SampleQuery][] = [
  ["by whole key", { filter: { chainId: 8453, address: sample(77).address } }],
  ["by key prefix in key order", { filter: { chainId: 8453 }, limit: 20 }],
  ["by key range", { filter: { chainId: 8453, address: { gte: sample(400).address } }, limit: 20 }],
  ["in key order, backwards", { order: [{ field: "chainId", direction: "desc" }], limit: 20 }],
  ["by an index", { filter: { blockTime: sample(77).blockTime } }],
  ["by an index and a bound", { filter: { dex: "dex 1", blockTime: { gte: sample(400).blockTime } }, limit: 20 }],
  ["by a list", { filter: { blockTime: { in: [sample(7).blockTime, sample(400).blockTime] } } }],
  ["by a null", { filter: { amount: null }, limit: 20 }],
  ["in order of an index", { order: [{ field: "blockTime", direction: "desc" }], limit: 20 }],
  ["in order of a nullable field, ascending", { order: [{ field: "amount", direction: "asc" }], limit: 20 }],
  ["in order of a nullable field, descending", { order: [{ field: "amount", direction: "desc" }], limit: 20 }],
  ["by an index, in order of its next field", { filter: { chainId: 8453 }, order: [{ field: "tvlUsd", direction: "asc" }], limit: 20 }],
  ["by a bound, in its order", { filter: { chainId: 8453, tvlUsd: { gte: 500 } }, order: [{ field: "tvlUsd", direction: "desc" }], limit: 20 }],
];

export function describePlans(options: SuiteOptions): void {
  describe("index use", () => {
    const large = { ...samples, name: "large_samples" } as typeof samples;
    const fixture = useStore(options, [samples, large]);
    const fill = async (target: typeof samples, count: number): Promise<void> => {
      const rows = Array.from({ length: count }, (_, i) => sample(i, i % 100 === 0 ? { amount: null, tvlUsd: null } : {}));
      for (let i = 0; i < count; i += 5_000) await fixture.store.write([put(target, rows.slice(i, i + 5_000))]);
    };

    it("serves every list query from the key or an index", async function () {
      this.timeout(120_000);
      const { store } = fixture;
      await fill(samples, SMALL);
      const unknown: [string, SampleQuery][] = [];
      for (const [name, query] of LIST_QUERIES) {
        const plan = await store.plan(samples, query);
        if (plan === "unknown") unknown.push([name, query]);
        else expect(plan, name).to.equal("index");
      }
      if (unknown.length === 0) return;
      // The engine does not tell how it answers, so the time must: it may not grow with the collection.
      await fill(large, LARGE);
      for (const [name, query] of unknown) {
        const ratio = await slowdown(store, { small: samples, large, query });
        expect(ratio, `${name}: times slower with ${LARGE / SMALL} times the rows`).to.be.lessThan(MOST_TIMES_SLOWER);
      }
    });

    it("notices a query that no index serves", async function () {
      this.timeout(120_000);
      const { store } = fixture;
      await fill(samples, SMALL);
      const scans: SampleQuery[] = [
        { filter: { price: 0.123 } },
        { filter: { verified: true, symbol: "T-1" }, limit: 20 },
        { order: [{ field: "price", direction: "asc" }], limit: 20 },
      ];
      const plans = await Promise.all(scans.map((query) => store.plan(samples, query)));
      if (!plans.includes("unknown")) return expect(plans).to.deep.equal(["scan", "scan", "scan"]);
      await fill(large, LARGE);
      const ratio = await slowdown(store, { small: samples, large, query: scans[0] as SampleQuery });
      expect(ratio).to.be.greaterThan(MOST_TIMES_SLOWER);
    });
  });
}

/** The least of several runs on either side: what disturbs a run only ever makes it slower. */
async function slowdown(
  store: Store,
  { small, large, query }: { small: typeof samples & Collection; large: typeof samples & Collection; query: SampleQuery },
): Promise<number> {
  const best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let run = 0; run < 15; run++) {
    for (const [side, target] of [small, large].entries()) {
      const started = performance.now();
      await store.find(target, query);
      best[side] = Math.min(best[side] as number, performance.now() - started);
    }
  }
  return (best[1] as number) / (best[0] as number);
}
