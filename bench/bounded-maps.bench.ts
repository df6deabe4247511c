/**
 * What a map costs that evicts its oldest entry above a size: `npm run -s bench:bounded-maps`
 *
 * "hit" sets and "get" reads an existing entry, as the limits of a key do with each request; "churn" sets a new key each
 * time, so that each evicts the oldest one, as look-ups of made-up keys do. Nanoseconds of CPU an operation, garbage
 * collection included, best of five rounds. Figures: docs/decisions/0036-libraries-by-measurement.md.
 */
import { LRUCache } from "lru-cache";

interface Candidate {
  readonly name: string;
  make(max: number): { get(key: string): unknown; set(key: string, value: object): void };
}

/** A Map whose entries are taken out and put back: the order of insertion is the order of use. */
class ReinsertingMap {
  readonly #map = new Map<string, object>();
  readonly #max: number;
  constructor(max: number) {
    this.#max = max;
  }
  get(key: string): object | undefined {
    return this.#map.get(key);
  }
  set(key: string, value: object): void {
    this.#map.delete(key);
    this.#map.set(key, value);
    if (this.#map.size > this.#max) this.#map.delete(this.#map.keys().next().value as string);
  }
}

const CANDIDATES: readonly Candidate[] = [
  {
    name: "lru-cache",
    make(max) {
      const cache = new LRUCache<string, object>({ max });
      return { get: (key) => cache.peek(key), set: (key, value) => void cache.set(key, value) };
    },
  },
  { name: "Map, entry put back", make: (max) => new ReinsertingMap(max) },
];
const OPERATIONS = 2_000_000;
const ROUNDS = 5;

function cpuNs(work: () => void): number {
  globalThis.gc?.();
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1_000) / OPERATIONS;
}

for (const max of [1_000, 20_000, 100_000]) {
  const keys = Array.from({ length: max }, (_, i) => `key ${i}`);
  const fresh = Array.from({ length: 4 * max }, (_, i) => `new ${i}`);
  const best = new Map<string, { hit: number; get: number; churn: number }>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, make } of CANDIDATES) {
      const map = make(max);
      for (const key of keys) map.set(key, {});
      const hit = cpuNs(() => {
        for (let i = 0; i < OPERATIONS; i++) map.set(keys[(i * 7) % max] as string, { i });
      });
      const get = cpuNs(() => {
        for (let i = 0; i < OPERATIONS; i++) map.get(keys[(i * 7) % max] as string);
      });
      const churn = cpuNs(() => {
        for (let i = 0; i < OPERATIONS; i++) map.set(fresh[i % fresh.length] as string, { i });
      });
      const known = best.get(name) ?? { hit: Infinity, get: Infinity, churn: Infinity };
      best.set(name, {
        hit: Math.min(known.hit, hit),
        get: Math.min(known.get, get),
        churn: Math.min(known.churn, churn),
      });
    }
  }
  for (const [name, { hit, get, churn }] of best)
    console.log(
      `${String(max).padStart(7)} entries  ${name.padEnd(26)} hit ${hit.toFixed(0).padStart(4)} ns  get ${get.toFixed(0).padStart(4)} ns  churn ${churn.toFixed(0).padStart(4)} ns`,
    );
}
