import type { DeployedProtocol } from "../deployments.ts";
import type { UnitSet } from "../protocols/protocol.ts";
import type { LendingRow, MarketRow, VaultMarketRow, VaultRow } from "../protocols/rows.ts";
import type { Slices } from "./slices.ts";

/** Every row of one protocol on one chain at one block, before USD. */
export interface RowSet {
  readonly vaults: readonly VaultRow[];
  readonly markets: readonly MarketRow[];
  readonly marketOf: ReadonlyMap<string, MarketRow>;
  /** By the vault's address; vaults without markets have none here. */
  readonly vaultMarkets: ReadonlyMap<string, readonly VaultMarketRow[]>;
  /** Addresses of all vaults. */
  readonly known: ReadonlySet<string>;
  /** Every token that a row needs the price of. */
  readonly tokens: ReadonlySet<string>;
}

/** Makes a protocol's rows, letting others go first every few milliseconds. `onUnsound` is told of rows left out. */
export async function collectRows(of: {
  readonly deployed: DeployedProtocol;
  readonly units: UnitSet;
  readonly chainId: number;
  /** Unix seconds. */
  readonly time: number;
  readonly slices: Slices;
  readonly onUnsound: (row: LendingRow) => void;
}): Promise<RowSet> {
  const { deployed, units, chainId, time, slices, onUnsound } = of;
  const collector = new RowCollector();
  const { protocol, deployment } = deployed;
  for (const row of protocol.rows(units, { chainId, time, deployment })) {
    if (isSound(row)) collector.add(row);
    else onUnsound(row);
    if (slices.due()) await slices.pause();
  }
  return collector;
}

class RowCollector implements RowSet {
  readonly vaults: VaultRow[] = [];
  readonly markets: MarketRow[] = [];
  readonly marketOf = new Map<string, MarketRow>();
  readonly vaultMarkets = new Map<string, VaultMarketRow[]>();
  readonly known = new Set<string>();
  readonly tokens = new Set<string>();

  add(row: LendingRow): void {
    if (row.table === "vault") {
      this.vaults.push(row);
      this.known.add(row.address);
      this.tokens.add(row.underlying.address);
    } else {
      this.tokens.add(row.loan.address);
      if (row.table === "market") {
        this.markets.push(row);
        this.marketOf.set(row.marketId, row);
      } else {
        this.known.add(row.vaultAddress);
        const list = this.vaultMarkets.get(row.vaultAddress);
        if (list === undefined) this.vaultMarkets.set(row.vaultAddress, [row]);
        else list.push(row);
      }
    }
    if (row.oracle !== null && row.oracle.unit !== "USD") this.tokens.add(row.oracle.unit);
  }
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
