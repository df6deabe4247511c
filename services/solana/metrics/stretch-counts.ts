import { leastOfClass, NO_VALUE, VALUE_CLASSES, valueClass } from "./value-class.ts";

/** What a row of a token's or pool's list is counted by. */
export interface Counted {
  /** In a token's list the exchange (its number in rows), in a pool's list the token (its number in the stretch). */
  readonly who: number;
  /** Index into TX_TYPES, from the side of the row's token. */
  readonly txType: number;
  readonly valueUsd: number | null;
}

/** Counts of rows that are equal in what they are counted by: code, count, code, count … by ascending code. */
export type StretchCounts = readonly number[];

/** What rows are asked for by; what is absent says nothing. */
export interface CountFilter {
  readonly who?: number;
  /** Any of these. */
  readonly txTypes?: readonly number[];
  readonly minValueUsd?: number;
}

const TX_TYPE_COUNT = 4;

export function countRows(rows: Iterable<Counted>): StretchCounts {
  const counts = new Map<number, number>();
  for (const { who, txType, valueUsd } of rows) {
    const code = (who * TX_TYPE_COUNT + txType) * VALUE_CLASSES + valueClass(valueUsd);
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => a - b).flat();
}

export interface Matching {
  readonly sure: number;
  readonly unsure: number;
}

/**
 * How many of the counted rows a filter takes: `sure` of them do, and of `unsure` more that are in the class of the
 * minimum value only their rows tell.
 */
export function countMatching(counts: StretchCounts, { who, ...filter }: CountFilter): Matching {
  return matcherOf(filter)(counts, who);
}

/** Codes of one `who`. */
const CODES = TX_TYPE_COUNT * VALUE_CLASSES;
/** What a filter says of a code. */
const [NOT, SURE, UNSURE] = [0, 1, 2];

/** countMatching for many stretches, of which a deep page passes thousands: what the filter says of each code is worked out once. */
export function matcherOf({
  txTypes,
  minValueUsd,
}: Omit<CountFilter, "who">): (counts: StretchCounts, who?: number) => Matching {
  const least = minValueUsd === undefined ? undefined : valueClass(minValueUsd);
  const isWhole = least !== undefined && minValueUsd === leastOfClass(least);
  const says = Uint8Array.from({ length: CODES }, (_, code) => {
    if (txTypes !== undefined && !txTypes.includes(Math.floor(code / VALUE_CLASSES))) return NOT;
    const found = code % VALUE_CLASSES;
    if (least === undefined || (found > least && found !== NO_VALUE)) return SURE;
    if (found !== least) return NOT;
    return isWhole ? SURE : UNSURE;
  });
  return (counts, who) => {
    const first = (who ?? 0) * CODES;
    let sure = 0;
    let unsure = 0;
    // Codes ascend.
    for (let i = 0; i < counts.length; i += 2) {
      const code = (counts[i] as number) - first;
      if (code < 0) continue;
      if (who !== undefined && code >= CODES) break;
      const said = says[code % CODES];
      if (said === SURE) sure += counts[i + 1] as number;
      else if (said === UNSURE) unsure += counts[i + 1] as number;
    }
    return { sure, unsure };
  };
}
