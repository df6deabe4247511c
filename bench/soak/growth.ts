import { median } from "../stats.ts";
import type { Sample } from "./samples.ts";

/** Of a life this share fills caches and pools, lets V8 size its heap, and is not judged. */
const WARM_SHARE = 1 / 3;

/**
 * How one process has changed in the part of its life that is judged, from its first half to its last. Memory by the least
 * that was seen: V8 lets garbage grow for minutes and gives it back, so that only what is never given back is kept for
 * ever. Descriptors and sockets by their medians.
 */
export interface Growth {
  readonly name: string;
  readonly minutes: number;
  readonly memoryMb: Change;
  readonly mappedMb: Change;
  readonly heapMb: Change;
  readonly externalMb: Change;
  readonly descriptors: Change;
  readonly sockets: Change;
  /** The most private memory of its whole life. */
  readonly mostMb: number;
  readonly logMbAnHour: number;
}

export interface Change {
  readonly from: number;
  readonly to: number;
}

type Typical = (values: readonly number[]) => number;
const least: Typical = (values) => Math.min(...values);

/** Of the samples of one life, in the order of time; undefined where they are too few to tell. */
export function growthOf(life: readonly Sample[]): Growth | undefined {
  const [first, last] = [life[0], life.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const lifeMs = last.atMs - first.atMs;
  const judged = life.filter(({ atMs }) => atMs - first.atMs >= WARM_SHARE * lifeMs);
  const middle = Math.floor(judged.length / 2);
  if (middle === 0) return undefined;
  const change = (read: (sample: Sample) => number | undefined, typical: Typical): Change => {
    const values = (samples: readonly Sample[]) => samples.flatMap((sample) => read(sample) ?? []);
    return { from: typical(values(judged.slice(0, middle))), to: typical(values(judged.slice(middle))) };
  };
  return {
    name: first.name,
    minutes: lifeMs / 60_000,
    memoryMb: change(({ memoryMb }) => memoryMb, least),
    mappedMb: change(({ mappedMb }) => mappedMb, least),
    heapMb: change(({ heapMb }) => heapMb, least),
    externalMb: change(({ externalMb }) => externalMb, least),
    descriptors: change(({ descriptors }) => descriptors, median),
    sockets: change(({ sockets }) => sockets, median),
    mostMb: Math.max(...life.map(({ memoryMb }) => memoryMb)),
    logMbAnHour: (last.logBytes - first.logBytes) / 1e6 / (lifeMs / 3_600_000),
  };
}

/**
 * Of each process the samples between two starts, where it lived longest. An ingest that takes the lease loads the index,
 * and keeps that memory when it has lost the lease: another life begins with its first turn as the leader.
 */
export function longestLives(samples: readonly Sample[]): Sample[][] {
  const lives = new Map<string, Map<string, Sample[]>>();
  const haveLed = new Set<number>();
  for (const sample of samples) {
    if (sample.leads === true) haveLed.add(sample.pid);
    const own = lives.get(sample.name) ?? new Map<string, Sample[]>();
    const key = `${sample.pid} ${haveLed.has(sample.pid)}`;
    own.set(key, [...(own.get(key) ?? []), sample]);
    lives.set(sample.name, own);
  }
  return [...lives.values()].map((own) => [...own.values()].sort((a, b) => b.length - a.length)[0] ?? []);
}
