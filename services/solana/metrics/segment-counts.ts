import { classifyValue, lowerBoundOfClass, NO_VALUE, VALUE_CLASSES } from "./value-class.ts";

/** Properties by which a row of a token's or pool's list is counted. */
export interface CountedRow {
  /** In a token's list the exchange (its number in rows), in a pool's list the token (its number in the segment). */
  readonly group: number;
  /** Index into TX_TYPES, from the side of the row's token. */
  readonly txType: number;
  readonly valueUsd: number | null;
}

/** Counts of rows with equal properties: code, count, code, count … by ascending code. */
export type SegmentCounts = readonly number[];

/** Filter of a request; absent fields do not filter. */
export interface CountFilter {
  readonly group?: number;
  /** Any of these. */
  readonly txTypes?: readonly number[];
  readonly minValueUsd?: number;
}

const TX_TYPE_COUNT = 4;

export function countByGroup(rows: Iterable<CountedRow>): SegmentCounts {
  const counts = new Map<number, number>();
  for (const { group, txType, valueUsd } of rows) {
    const code = (group * TX_TYPE_COUNT + txType) * VALUE_CLASSES + classifyValue(valueUsd);
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => a - b).flat();
}

export interface MatchCounts {
  readonly certain: number;
  readonly uncertain: number;
}

/**
 * How many of the counted rows match a filter: `certain` do; `uncertain` more are in the class of the minimum value, and
 * only the rows themselves decide.
 */
export function countMatching(counts: SegmentCounts, { group, ...filter }: CountFilter): MatchCounts {
  return createMatcher(filter)(counts, group);
}

/** Codes of one `group`. */
const CODES = TX_TYPE_COUNT * VALUE_CLASSES;
/** Whether a code matches a filter. */
const [NOT, CERTAIN, UNCERTAIN] = [0, 1, 2];

/** countMatching for many segments, since a deep page skips thousands: each code is compared with the filter once. */
export function createMatcher({
  txTypes,
  minValueUsd,
}: Omit<CountFilter, "group">): (counts: SegmentCounts, group?: number) => MatchCounts {
  const least = minValueUsd === undefined ? undefined : classifyValue(minValueUsd);
  const isWhole = least !== undefined && minValueUsd === lowerBoundOfClass(least);
  const matches = Uint8Array.from({ length: CODES }, (_, code) => {
    if (txTypes !== undefined && !txTypes.includes(Math.floor(code / VALUE_CLASSES))) return NOT;
    const found = code % VALUE_CLASSES;
    if (least === undefined || (found > least && found !== NO_VALUE)) return CERTAIN;
    if (found !== least) return NOT;
    return isWhole ? CERTAIN : UNCERTAIN;
  });
  return (counts, group) => {
    const first = (group ?? 0) * CODES;
    let certain = 0;
    let uncertain = 0;
    // Codes ascend.
    for (let i = 0; i < counts.length; i += 2) {
      const code = (counts[i] as number) - first;
      if (code < 0) continue;
      if (group !== undefined && code >= CODES) break;
      const match = matches[code % CODES];
      if (match === CERTAIN) certain += counts[i + 1] as number;
      else if (match === UNCERTAIN) uncertain += counts[i + 1] as number;
    }
    return { certain, uncertain };
  };
}
