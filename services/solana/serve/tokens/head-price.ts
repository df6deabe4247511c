import type { Store } from "../../../shared/storage/port.ts";
import type { PriceEntry } from "../../price/price-book.ts";
import { PriceTracker } from "../../price/price-tracker.ts";
import { prices } from "../../store/collections.ts";
import { toPriceEntry } from "../../store/price-row.ts";

/**
 * USD for one token as of `time` (Unix seconds of the head), from its stored price entry and those it rests on, by the
 * rules of PriceTracker. Null if they do not lead to an anchor.
 */
export async function readPriceUsd(
  store: Store,
  { mint, time }: { mint: string; time: number },
): Promise<number | null> {
  return (await loadPrices(store, [mint])).usd(mint, time);
}

/** The prices of some tokens, with all that they rest on. */
export async function loadPrices(store: Store, mints: readonly string[]): Promise<PriceTracker> {
  const book = new PriceTracker();
  const asked = new Set<string>();
  let wanted = [...new Set(mints)];
  while (wanted.length > 0) {
    for (const each of wanted) asked.add(each);
    const rows = await store.getMany(
      prices,
      wanted.map((each) => ({ mint: each })),
    );
    const entries = rows.map(toPriceEntry);
    for (const entry of entries) if (!restsOnItself(book, entry)) book.load([entry]);
    const parents = entries.flatMap(({ quotes }) => quotes.map(({ parent }) => parent));
    wanted = [...new Set(parents)].filter((parent) => !asked.has(parent));
  }
  return book;
}

/** Rows of two moments, read during a write, may rest on each other; what is made from them is read again. */
function restsOnItself(book: PriceTracker, { mint, quotes }: PriceEntry): boolean {
  return quotes.some(({ parent }) => book.restsOn(parent, mint));
}
