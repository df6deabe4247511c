import type { PriceEntry } from "../price/price-tracker.ts";
import type { PriceRow } from "./collections.ts";

export function toPriceRow(entry: PriceEntry): PriceRow {
  return { ...entry, recent: entry.recent.map(({ time, price }) => [time, price]) };
}

export function toPriceEntry(row: PriceRow): PriceEntry {
  const recent = row.recent as readonly (readonly [number, number])[];
  return { ...row, recent: recent.map(([time, price]) => ({ time, price })) };
}
