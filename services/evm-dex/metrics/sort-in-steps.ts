/** Items between two yields: some tenths of a millisecond. */
const ITEMS_A_STEP = 250;

/** A stable merge sort in steps of a fraction of a millisecond each. */
export function* sortInSteps<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<undefined, T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += ITEMS_A_STEP) {
    runs.push(items.slice(from, from + ITEMS_A_STEP).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2) {
      merged.push(yield* mergeInSteps(runs[i] as T[], runs[i + 1] ?? [], compare));
      yield;
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergeInSteps<T>(
  first: readonly T[],
  second: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<undefined, T[]> {
  const all: T[] = [];
  let [i, j] = [0, 0];
  while (i < first.length || j < second.length) {
    const isFirst = j >= second.length || (i < first.length && compare(first[i] as T, second[j] as T) <= 0);
    all.push((isFirst ? first[i++] : second[j++]) as T);
    if (all.length % (4 * ITEMS_A_STEP) === 0) yield;
  }
  return all;
}
