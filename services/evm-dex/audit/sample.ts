/** A number from 0 to below `count`. */
export type Picker = (count: number) => number;

/** Reproducible picks by mulberry32, good enough for samples. */
export function createPick(seed: number): Picker {
  let state = seed >>> 0;
  return (count) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * count);
  };
}

/** `size` distinct items, or all where there are no more. */
export function sample<T>(items: readonly T[], { size, pick }: { size: number; pick: Picker }): T[] {
  const left = [...items];
  const chosen: T[] = [];
  while (chosen.length < size && left.length > 0) chosen.push(...left.splice(pick(left.length), 1));
  return chosen;
}
