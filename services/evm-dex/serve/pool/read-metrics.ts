import type { Cache } from "../../../shared/cache/port.ts";
import { Counter, Gauge, Histogram, type Metrics } from "../../../shared/metrics/metrics.ts";
import type { HeadAges } from "../../../shared/service/head-watcher.ts";
import type { ReadSource } from "./pool-reader.ts";

interface ReadMetrics {
  read(options: { source: ReadSource; ageMs: number }): void;
  cacheFailed(): void;
  watchCache(cache: Cache): void;
}

/** Metrics of where rows come from, how old they are, and whether cache and head watcher work. */
export function createReadMetrics(
  { registry }: Metrics,
  { heads, chainIds }: { heads: HeadAges; chainIds: readonly number[] },
): ReadMetrics {
  const registers = [registry];
  const reads = new Counter({
    name: "pool_reads_total",
    help: "Single pools returned, by where their row came from; memory and cache are snapshots, joined a read in flight",
    labelNames: ["source"],
    registers,
  });
  const age = new Histogram({
    name: "pool_snapshot_age_seconds",
    help: "Time since a row from memory or cache was computed",
    buckets: [0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 60],
    registers,
  });
  const failures = new Counter({
    name: "cache_failures_total",
    help: "Commands without a reply, lost connections and malformed snapshots",
    registers,
  });
  new Gauge({
    name: "head_seen_age_seconds",
    help: "Time since the store was last seen at the block that is served as the head",
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
        help: "Whether the last call of the cache succeeded",
        registers,
        collect() {
          this.set(cache.healthy() ? 1 : 0);
        },
      });
    },
  };
}
