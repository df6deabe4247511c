import type { TimeSlices } from "../../../shared/process/time-slices.ts";
import type { DeployedProtocol } from "../../deployments.ts";
import type { EntitySet } from "../../protocols/protocol.ts";
import type { LendingRow } from "../../protocols/rows.ts";
import { ColumnDictionaries, distinctTexts, RowColumns } from "../columns/row-columns.ts";
import {
  MARKET_LAYOUT,
  type MarketColumns,
  VAULT_LAYOUT,
  VAULT_MARKET_LAYOUT,
  type VaultColumns,
  type VaultMarketColumns,
} from "./layouts.ts";

/** Every row of one protocol on one chain at one block, before USD. */
export interface RowSet {
  readonly vaults: VaultColumns;
  readonly markets: MarketColumns;
  readonly vaultMarkets: VaultMarketColumns;
}

/** The dictionaries of a protocol's columns, reused from one head to the next. */
export class RowDictionaries {
  readonly vaults = new ColumnDictionaries();
  readonly markets = new ColumnDictionaries();
  readonly vaultMarkets = new ColumnDictionaries();
}

/** Builds a protocol's rows, yielding to the event loop every few milliseconds. `onSkipped`: rows with a non-finite number. */
export async function collectRows({
  deployed,
  entities,
  chainId,
  time,
  memory,
  slices,
  onSkipped,
}: {
  readonly deployed: DeployedProtocol;
  readonly entities: EntitySet;
  readonly chainId: number;
  /** Unix seconds. */
  readonly time: number;
  readonly memory: RowDictionaries;
  readonly slices: TimeSlices;
  readonly onSkipped: (row: LendingRow) => void;
}): Promise<RowSet> {
  const { protocol, deployment } = deployed;
  const rows = {
    vaults: new RowColumns(VAULT_LAYOUT, memory.vaults),
    markets: new RowColumns(MARKET_LAYOUT, memory.markets),
    vaultMarkets: new RowColumns(VAULT_MARKET_LAYOUT, memory.vaultMarkets),
  };
  for (const row of protocol.rows(entities, { chainId, time, deployment })) {
    if (!hasFiniteNumbers(row)) onSkipped(row);
    else if (row.table === "vault") rows.vaults.add(row);
    else if (row.table === "market") rows.markets.add(row);
    else rows.vaultMarkets.add(row);
    if (slices.due()) await slices.pause();
  }
  for (const columns of Object.values(rows)) columns.close();
  return rows;
}

/** Whether all required numbers are finite: a single other cell would make the whole response invalid. */
function hasFiniteNumbers(row: LendingRow): boolean {
  if (!Number.isFinite(row.utilizationRate)) return false;
  switch (row.table) {
    case "vault":
      return Number.isFinite(row.supply + row.borrow + row.performanceFee + row.managementFee);
    case "market":
      return Number.isFinite(row.ltv);
    case "vault-market":
      return Number.isFinite(row.ltv + row.allocationShare);
  }
}

/** Every token whose price a row needs. */
export function tokensOf(rows: RowSet): Set<string> {
  const tokens = new Set<string>();
  for (const columns of [rows.vaults, rows.markets, rows.vaultMarkets]) {
    for (const token of distinctTexts(columns.text("token"))) tokens.add(token);
  }
  return tokens;
}
