import type { EntityState, LendingProtocol } from "../protocols/protocol.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import type { LendingRow, MarketRow, VaultMarketRow, VaultRow } from "../protocols/rows.ts";

/**
 * A protocol whose entities contain their rows: tests serving without contracts. A row's supply grows by its
 * rate for each second since its entity was read, so that it shows the head's time.
 */
export function fakeProtocol(id: ProtocolId, options: { onRow?: () => void } = {}): LendingProtocol {
  return {
    id,
    kinds: [kindOf(id)],
    topics: [],
    parseDeployment: (section) => section,
    roots: () => [],
    scans: () => [],
    affectedEntities: () => [],
    read: () => Promise.reject(new Error("Nothing of it is on a chain.")),
    *rows(entities, { time }) {
      for (const entity of entities.all(kindOf(id))) {
        for (const row of rowsIn(entity.state)) {
          options.onRow?.();
          yield "supply" in row ? { ...row, supply: row.supply + PER_SECOND * (time - entity.time) } : row;
        }
      }
    },
  };
}

/** What a row's supply grows by in a second. */
export const PER_SECOND = 0.5;

/** The kind of entity of a fake protocol. */
export function kindOf(id: ProtocolId): string {
  return `fake-${id}`;
}

/** The state of an entity that contains these rows. */
export function stateOf(rows: readonly LendingRow[]): EntityState {
  return rows as unknown as EntityState;
}

function rowsIn(state: EntityState): readonly LendingRow[] {
  return state as unknown as readonly LendingRow[];
}

/** The n-th address. */
export function address(n: number): `0x${string}` {
  return `0x${n.toString(16).padStart(40, "0")}`;
}

export function vaultRow(fields: Partial<VaultRow> = {}): VaultRow {
  return {
    table: "vault",
    protocolId: "morpho-v1",
    address: address(0xa0),
    listed: true,
    curator: address(0xc0),
    isOfCurator: false,
    symbol: "vUSDC",
    vaultName: "USDC vault",
    underlying: { address: address(1), symbol: "USDC" },
    supply: 1_000,
    borrow: 400,
    available: 600,
    supplyCap: null,
    borrowCap: null,
    supplyApy: 0.03,
    borrowApy: 0.05,
    utilizationRate: 0.4,
    performanceFee: 0.1,
    managementFee: 0,
    ltv: 0.86,
    borrowable: true,
    depositEnabled: true,
    ...fields,
  };
}

export function marketRow(fields: Partial<MarketRow> = {}): MarketRow {
  return {
    table: "market",
    protocolId: "morpho-v1",
    listed: true,
    marketId: `0x${"01".repeat(32)}`,
    loan: { address: address(1), symbol: "USDC" },
    collateral: { address: address(2), symbol: "WETH" },
    supply: 5_000,
    borrow: 2_000,
    available: 3_000,
    supplyApy: 0.02,
    borrowApy: 0.04,
    utilizationRate: 0.4,
    ltv: 0.86,
    ...fields,
  };
}

export function vaultMarketRow(fields: Partial<VaultMarketRow> = {}): VaultMarketRow {
  return {
    table: "vault-market",
    protocolId: "morpho-v1",
    vaultAddress: address(0xa0),
    marketId: `0x${"01".repeat(32)}`,
    loan: { address: address(1), symbol: "USDC" },
    collateral: { address: address(2), symbol: "WETH" },
    ltv: 0.86,
    supplyApy: 0.02,
    borrowApy: 0.04,
    utilizationRate: 0.4,
    allocation: 700,
    allocationShare: 0.7,
    supplyCap: 10_000,
    ...fields,
  };
}
