import { expect } from "chai";
import type { LendingRow } from "../protocols/rows.ts";

/** Floats that come out of floats; everything else is exact. */
const RATES = ["supplyApy", "borrowApy", "utilizationRate", "allocationShare"];

/** Both hold the same rows in any order: amounts to the last digit, rates within 1e-9 of one another. */
export function expectRows(actual: readonly LendingRow[], expected: readonly LendingRow[]): void {
  const byKey = new Map(actual.map((row) => [keyOf(row), row]));
  expect([...byKey.keys()].sort()).to.deep.equal(expected.map(keyOf).sort());
  expect(byKey.size).to.equal(actual.length);
  for (const row of expected) expectRow(byKey.get(keyOf(row)) as LendingRow, row);
}

function expectRow(actual: LendingRow, expected: LendingRow): void {
  const key = keyOf(expected);
  expect(Object.keys(actual).sort(), key).to.deep.equal(Object.keys(expected).sort());
  const [cells, wanted] = [Object.entries(actual), new Map(Object.entries(expected))];
  for (const [name, cell] of cells) {
    const want = wanted.get(name);
    if (RATES.includes(name) && typeof cell === "number" && typeof want === "number")
      expect(cell, `${key} ${name}`).to.be.closeTo(want, Math.abs(want) * 1e-9);
    else expect(cell, `${key} ${name}`).to.deep.equal(want);
  }
}

function keyOf(row: LendingRow): string {
  if (row.table === "vault") return `vault ${row.address} ${row.underlying.address}`;
  if (row.table === "market") return `market ${row.marketId}`;
  return `vault-market ${row.vaultAddress} ${row.marketId}`;
}
