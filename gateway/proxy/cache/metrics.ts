import { Counter, Gauge, type Metrics } from "../../../services/shared/metrics/metrics.ts";
import { CACHE_WORDS, type CacheWord } from "./caching-forwarder.ts";
import type { ResponseCache } from "./response-cache.ts";

/** Publishes how answers came about and what is kept, read when scraped. Answers what to tell of each answer. */
export function measureCache(kept: ResponseCache, { registry }: Metrics): (word: CacheWord) => void {
  const registers = [registry];
  const counts: Record<CacheWord, number> = { hit: 0, revalidated: 0, coalesced: 0, miss: 0 };
  new Counter({
    name: "gateway_cache_answers_total",
    help: "Answers by how they came about: kept, found unchanged, another client's question, or asked for",
    labelNames: ["result"],
    registers,
    collect() {
      this.reset();
      for (const result of CACHE_WORDS) this.inc({ result }, counts[result]);
    },
  });
  new Gauge({
    name: "gateway_cache_bytes",
    help: "Bytes that kept answers take",
    registers,
    collect() {
      this.set(kept.bytes);
    },
  });
  new Gauge({
    name: "gateway_cache_entries",
    help: "Answers that are kept",
    registers,
    collect() {
      this.set(kept.size);
    },
  });
  return (word) => {
    counts[word] += 1;
  };
}
