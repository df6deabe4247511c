/**
 * How many holders have which balance, in buckets of a 16th of a doubling. The ingest keeps the counts with every change
 * of a balance, so that a median of millions is found without passing them.
 */

/** Buckets in a doubling, as a power of two. */
const BITS = 4;
const PARTS = 1 << BITS;

/** The bucket of a raw balance above zero: below 16 one each, then 16 for each doubling. */
export function bucketOf(balance: bigint): number {
  // The digits beyond the 53 bits of a number are of no matter where five decide; sizes come from the text.
  const shift = Math.max(0, bitLength(balance) - 1 - BITS);
  return PARTS * shift + Number(balance >> BigInt(shift));
}

/** The least and the greatest balance of a bucket. */
export function bucketBounds(bucket: number): { readonly least: bigint; readonly most: bigint } {
  const shift = Math.max(0, Math.floor(bucket / PARTS) - 1);
  const digits = BigInt(bucket - PARTS * shift);
  const least = digits << BigInt(shift);
  return { least, most: least + (1n << BigInt(shift)) - 1n };
}

function bitLength(value: bigint): number {
  const digits = value.toString(16);
  return 4 * digits.length - Math.clz32(Number.parseInt(digits.charAt(0), 16)) + 28;
}

/** Stored form: bucket, count, bucket, count … by ascending bucket, none of them 0. */
export type BalanceCounts = readonly number[];

/** Counts after some changes by bucket. */
export function changeCounts(counts: BalanceCounts, changes: ReadonlyMap<number, number>): BalanceCounts {
  const merged = new Map<number, number>();
  for (let i = 0; i < counts.length; i += 2) merged.set(counts[i] as number, counts[i + 1] as number);
  for (const [bucket, change] of changes) merged.set(bucket, (merged.get(bucket) ?? 0) + change);
  return [...merged]
    .filter(([, count]) => count !== 0)
    .sort(([a], [b]) => a - b)
    .flat();
}

/** Where a rank (0 = the smallest balance) is: its bucket, how many of that are below it, and how many there are. */
export interface RankedBucket {
  readonly bucket: number;
  readonly below: number;
  readonly count: number;
}

/** Undefined beyond all holders. */
export function findRank(counts: BalanceCounts, rank: number): RankedBucket | undefined {
  let passed = 0;
  for (let i = 0; i < counts.length; i += 2) {
    const count = counts[i + 1] as number;
    if (rank < passed + count) return { bucket: counts[i] as number, below: rank - passed, count };
    passed += count;
  }
  return undefined;
}
