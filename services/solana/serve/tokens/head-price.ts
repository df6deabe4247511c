import type { Store } from "../../../shared/storage/port.ts";
import { MAX_HOPS, PriceTracker } from "../../price/price-tracker.ts";
import { type PriceRow, prices } from "../../store/collections.ts";
import { toPriceEntry } from "../../store/price-row.ts";

/**
 * USD for one token as of `time` (Unix seconds of the head), from its stored price entry and its parents', by the rules
 * of PriceTracker. Null if they do not lead to an anchor.
 */
export async function readPriceUsd(
  store: Store,
  { mint, time }: { mint: string; time: number },
): Promise<number | null> {
  const book = new PriceTracker();
  let at: string | undefined = mint;
  for (let hops = 0; at !== undefined && hops < MAX_HOPS; hops++) {
    const row: PriceRow | undefined = await store.get(prices, { mint: at });
    if (row !== undefined) book.load([toPriceEntry(row)]);
    at = row?.parent;
  }
  return book.usd(mint, time);
}
