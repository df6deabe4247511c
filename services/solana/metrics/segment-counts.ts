import { classifyValue, lowerBoundOfClass, NO_VALUE, VALUE_CLASSES } from "./value-class.ts";

/** What a row of a token's or pool's list is counted by. */
export interface CountedRow {
  /** In a token's list the exchange (its number in rows), in a pool's list the token (its number in the segment). */
  readonly group: number;
  /** Index into TX_TYPES, from the side of the row's token. */
  readonly txType: number;
  readonly valueUsd: number | null;
}

/** Counts of rows that are equal in what they are counted by: code, count, code, count … by ascending code. */
export type SegmentCounts = readonly number[];

/** What rows are asked for by; what is absent says nothing. */
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
 * How many of the counted rows a filter takes: `certain` of them do, and of `uncertain` more that are in the class of the
 * minimum value only their rows tell.
 */
export function countMatching(counts: SegmentCounts, { group, ...filter }: CountFilter): MatchCounts {
  return createMatcher(filter)(counts, group);
}

/** Codes of one `group`. */
const CODES = TX_TYPE_COUNT * VALUE_CLASSES;
/** What a filter says of a code. */
const [NOT, CERTAIN, UNCERTAIN] = [0, 1, 2];

/** countMatching for many segments, of which a deep page passes thousands: what the filter says of each code is worked out once. */
export function createMatcher({
  txTypes,
  minValueUsd,
}: Omit<CountFilter, "group">): (counts: SegmentCounts, group?: number) => MatchCounts {
  const least = minValueUsd === undefined ? undefined : classifyValue(minValueUsd);
  const isWhole = least !== undefined && minValueUsd === lowerBoundOfClass(least);
  const says = Uint8Array.from({ length: CODES }, (_, code) => {
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
      const said = says[code % CODES];
      if (said === CERTAIN) certain += counts[i + 1] as number;
      else if (said === UNCERTAIN) uncertain += counts[i + 1] as number;
    }
    return { certain, uncertain };
  };
}
