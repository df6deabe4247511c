import { Gauge, type Metrics } from "../../shared/metrics/metrics.ts";
import type { HeadAges } from "../../shared/service/head-watcher.ts";
import { CHAIN_ID } from "../store/queries.ts";
import type { ListCaches } from "./lists/token-list.ts";

/** Age of the head, and sizes of the caches. */
export function createServeMetrics(
  { registry }: Metrics,
  { heads, deps }: { heads: HeadAges; deps: ListCaches },
): void {
  const registers = [registry];
  new Gauge({
    name: "head_seen_age_seconds",
    help: "Time since the store last confirmed the slot that answers use as the head",
    registers,
    collect() {
      const seconds = heads.ageSeconds(CHAIN_ID);
      if (seconds !== undefined) this.set(seconds);
    },
  });
  new Gauge({
    name: "list_segments_kept",
    help: "Counted segments of lists in memory, which deep pages skip",
    registers,
    collect() {
      this.set(deps.segments.size);
    },
  });
  new Gauge({
    name: "list_counts_kept",
    help: "Counts of segments in memory, by filters between two classes of value",
    registers,
    collect() {
      this.set(deps.counts.size);
    },
  });
}
