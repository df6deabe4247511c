import type { DeployedProtocol } from "../deployments.ts";
import type { UnitSet } from "../protocols/protocol.ts";
import type { LendingRow } from "../protocols/rows.ts";
import {
  MARKET_LAYOUT,
  type MarketColumns,
  VAULT_LAYOUT,
  VAULT_MARKET_LAYOUT,
  type VaultColumns,
  type VaultMarketColumns,
} from "./layouts.ts";
import { ColumnMemory, RowColumns, textsIn } from "./row-columns.ts";
import type { Slices } from "./slices.ts";

/** Every row of one protocol on one chain at one block, before USD. */
export interface RowSet {
  readonly vaults: VaultColumns;
  readonly markets: MarketColumns;
  readonly vaultMarkets: VaultMarketColumns;
}

/** What is kept of a protocol's rows from one head to the next. */
export class RowMemory {
  readonly vaults = new ColumnMemory();
  readonly markets = new ColumnMemory();
  readonly vaultMarkets = new ColumnMemory();
}

/** Makes a protocol's rows, letting others go first every few milliseconds. `onUnsound` is told of rows left out. */
export async function collectRows(of: {
  readonly deployed: DeployedProtocol;
  readonly units: UnitSet;
  readonly chainId: number;
  /** Unix seconds. */
  readonly time: number;
  readonly memory: RowMemory;
  readonly slices: Slices;
  readonly onUnsound: (row: LendingRow) => void;
}): Promise<RowSet> {
  const { deployed, units, chainId, time, memory, slices, onUnsound } = of;
  const { protocol, deployment } = deployed;
  const rows = {
    vaults: new RowColumns(VAULT_LAYOUT, memory.vaults),
    markets: new RowColumns(MARKET_LAYOUT, memory.markets),
    vaultMarkets: new RowColumns(VAULT_MARKET_LAYOUT, memory.vaultMarkets),
  };
  for (const row of protocol.rows(units, { chainId, time, deployment })) {
    if (!isSound(row)) onUnsound(row);
    else if (row.table === "vault") rows.vaults.add(row);
    else if (row.table === "market") rows.markets.add(row);
    else rows.vaultMarkets.add(row);
    if (slices.due()) await slices.pause();
  }
  for (const columns of Object.values(rows)) columns.close();
  return rows;
}

/** Whether every number that must be there is one: a table with a cell that is none could not be answered at all. */
function isSound(row: LendingRow): boolean {
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

/** Every token that a row needs the price of. */
export function tokensOf(rows: RowSet): Set<string> {
  const tokens = new Set<string>();
  for (const columns of [rows.vaults, rows.markets, rows.vaultMarkets]) {
    for (const token of textsIn(columns.text("token"))) tokens.add(token);
    for (const unit of textsIn(columns.text("oracleUnit"))) if (unit.startsWith("0x")) tokens.add(unit);
  }
  return tokens;
}
