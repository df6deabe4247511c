import type { Cache } from "../../../shared/cache/port.ts";
import { Counter, Gauge, Histogram, type Metrics } from "../../../shared/metrics/metrics.ts";
import type { HeadAges } from "../../../shared/service/head-watcher.ts";
import type { ReadSource } from "./pool-reader.ts";

export interface ReadMetrics {
  read(options: { source: ReadSource; ageMs: number }): void;
  cacheFailed(): void;
  watchCache(cache: Cache): void;
}

/** Where answers come from, how old they are, and whether the cache and the view of the head hold. */
export function createReadMetrics(
  { registry }: Metrics,
  { heads, chainIds }: { heads: HeadAges; chainIds: readonly number[] },
): ReadMetrics {
  const registers = [registry];
  const reads = new Counter({
    name: "pool_reads_total",
    help: "Single pools answered, by where their row came from; memory and cache are snapshots, joined a read under way",
    labelNames: ["source"],
    registers,
  });
  const age = new Histogram({
    name: "pool_snapshot_age_seconds",
    help: "Time since the row of an answer from memory or cache was computed",
    buckets: [0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 60],
    registers,
  });
  const failures = new Counter({
    name: "cache_failures_total",
    help: "Commands without an answer, lost connections and snapshots that cannot be read",
    registers,
  });
  new Gauge({
    name: "head_seen_age_seconds",
    help: "Time since the store was last seen to stand on the block that is answered as the head",
    labelNames: ["chain"],
    registers,
    collect() {
      for (const chainId of chainIds) {
        const seconds = heads.ageSeconds(chainId);
        if (seconds !== undefined) this.set({ chain: chainId }, seconds);
      }
    },
  });
  return {
    read({ source, ageMs }) {
      reads.inc({ source });
      if (source === "memory" || source === "cache") age.observe(ageMs / 1000);
    },
    cacheFailed: () => failures.inc(),
    watchCache(cache) {
      new Gauge({
        name: "cache_up",
        help: "Whether the cache answered its last call",
        registers,
        collect() {
          this.set(cache.healthy() ? 1 : 0);
        },
      });
    },
  };
}
