import type { PriceLinkRow } from "../store/collections.ts";
import type { PriceBefore } from "./slow-prices.ts";

/** Where all agree is the price in use at the last full five minutes. Source: docs/prices.md. */
const MARK_SECONDS = 300;

/** The last full five minutes at or before a second. */
export function markBefore(time: number): number {
  return Math.floor(time / MARK_SECONDS) * MARK_SECONDS;
}

/**
 * What a block's prices follow on, by token: of those with a price at the end of the block before, and of those that had one
 * at the last full five minutes.
 * @param from.used prices at the end of the block before
 * @param from.marked prices at the end of the last block before `mark`
 * @param from.links the rows in force at the end of the block before
 * @param from.mark the last full five minutes at or before the block, Unix seconds
 */
export function pricesBefore(from: {
  used: ReadonlyMap<string, { readonly usd: number }>;
  marked: ReadonlyMap<string, { readonly usd: number }>;
  links: ReadonlyMap<string, Pick<PriceLinkRow, "departedAt" | "departedUsd" | "agreedUsd" | "time">>;
  mark: number;
}): Map<string, PriceBefore> {
  const { used, marked, links, mark } = from;
  return new Map(
    [...new Set([...used.keys(), ...marked.keys()])].map((token) => {
      const { departedAt = null, departedUsd = null, agreedUsd = null, time = 0 } = links.get(token) ?? {};
      const usd = used.get(token)?.usd ?? null;
      const markedUsd = marked.get(token)?.usd ?? null;
      // What a row from before the mark says of where pools were followed is over.
      return [token, { usd, departedAt, departedUsd, agreedUsd: time < mark ? null : agreedUsd, markedUsd }];
    }),
  );
}
