import { Counter, Gauge, type Metrics } from "../../../services/shared/metrics/metrics.ts";
import { CACHE_RESULTS, type CacheResult } from "./caching-forwarder.ts";
import type { ResponseCache } from "./response-cache.ts";

/** Publishes the size of the cache and where responses came from, read at each scrape. Returns the counts to increment. */
export function publishCacheMetrics(
  cache: ResponseCache,
  { registry }: Metrics,
): Record<CacheResult, number> {
  const registers = [registry];
  const counts: Record<CacheResult, number> = { hit: 0, revalidated: 0, coalesced: 0, miss: 0 };
  new Counter({
    name: "gateway_cache_answers_total",
    help: "Responses by source: the cache, the cache after a 304 of the service, another client's request, the service",
    labelNames: ["result"],
    registers,
    collect() {
      this.reset();
      for (const result of CACHE_RESULTS) this.inc({ result }, counts[result]);
    },
  });
  new Gauge({
    name: "gateway_cache_bytes",
    help: "Bytes of cached responses",
    registers,
    collect() {
      this.set(cache.bytes);
    },
  });
  new Gauge({
    name: "gateway_cache_entries",
    help: "Cached responses",
    registers,
    collect() {
      this.set(cache.size);
    },
  });
  return counts;
}
