import type { OrderTerm } from "../../shared/contract/order.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import type { MarketRow, VaultRow } from "../protocols/rows.ts";
import {
  type CellContext,
  type CuratorRow,
  curatorCells,
  marketCells,
  type VaultMarketOf,
  vaultCells,
  vaultMarketCells,
} from "./cells.ts";
import type { PriceTable } from "./price-table.ts";
import type { RowSet } from "./row-set.ts";
import { RankBook, Sheet } from "./sheet.ts";
import type { Slices } from "./slices.ts";

const asc = (field: string): OrderTerm => ({ field, direction: "asc" });
const desc = (field: string): OrderTerm => ({ field, direction: "desc" });

/** As the declarations' rowOrder says. */
const ORDERS = {
  vaults: [desc("tvlUsd"), asc("poolAddress"), asc("underlyingAddress")],
  markets: [desc("tvlUsd"), asc("marketId")],
  curators: [desc("totalTvlUsd"), asc("curatorAddress")],
};

/** What is kept of a protocol's tables from one head to the next. */
export class TableMemory {
  readonly vaults = new RankBook();
  readonly markets = new RankBook();
  readonly curators = new RankBook();
}

export interface TableOptions {
  readonly rows: RowSet;
  readonly prices: PriceTable;
  readonly protocol: ProtocolId;
  readonly context: CellContext;
  readonly memory: TableMemory;
}

/** Every list of one protocol on one chain, at one block and one set of prices. */
export class ProtocolTables {
  readonly vaults: Sheet<VaultRow>;
  readonly curators: Sheet<CuratorRow>;
  readonly markets: Sheet<MarketRow>;
  readonly #options: TableOptions;
  readonly #vaultMarkets = new Map<string, Sheet<VaultMarketOf>>();

  private constructor(
    options: TableOptions,
    sheets: Pick<ProtocolTables, "vaults" | "curators" | "markets">,
  ) {
    this.#options = options;
    this.vaults = sheets.vaults;
    this.curators = sheets.curators;
    this.markets = sheets.markets;
  }

  /** Prices the rows, letting others go first every few milliseconds. */
  static async build(options: TableOptions, slices: Slices): Promise<ProtocolTables> {
    const { rows, prices, context, memory, protocol } = options;
    const vaultUsd = usdOf(rows.vaults, (row) => prices.usdOf(row.underlying.address, row.oracle));
    if (slices.due()) await slices.pause();
    const vaults = new Sheet({
      rows: rows.vaults,
      usd: vaultUsd,
      cells: vaultCells(context),
      ranks: memory.vaults,
      defaultOrder: ORDERS.vaults,
    });
    if (slices.due()) await slices.pause();
    const curated = curatorsOf(vaults, protocol);
    const curators = new Sheet({
      rows: curated,
      usd: new Float64Array(curated.length),
      cells: curatorCells(context),
      ranks: memory.curators,
      defaultOrder: ORDERS.curators,
    });
    if (slices.due()) await slices.pause();
    const marketUsd = usdOf(rows.markets, (row) => prices.usdOf(row.loan.address, row.oracle));
    if (slices.due()) await slices.pause();
    const markets = new Sheet({
      rows: rows.markets,
      usd: marketUsd,
      cells: marketCells(context),
      ranks: memory.markets,
      defaultOrder: ORDERS.markets,
    });
    return new ProtocolTables(options, { vaults, curators, markets });
  }

  /** The markets of one vault; undefined where there is no such vault. */
  marketsOf(vault: string): Sheet<VaultMarketOf> | undefined {
    const { rows, prices, context } = this.#options;
    if (!rows.known.has(vault)) return undefined;
    let sheet = this.#vaultMarkets.get(vault);
    if (sheet === undefined) {
      const markets = (rows.vaultMarkets.get(vault) ?? []).map((row) => ({
        row,
        supply: rows.marketOf.get(row.marketId)?.supply ?? Number.NaN,
      }));
      sheet = new Sheet({
        rows: markets,
        usd: usdOf(markets, ({ row }) => prices.usdOf(row.loan.address, row.oracle)),
        cells: vaultMarketCells(context),
        ranks: new RankBook(),
        defaultOrder: ORDERS.markets,
      });
      this.#vaultMarkets.set(vault, sheet);
    }
    return sheet;
  }
}

function usdOf<R>(rows: readonly R[], priceOf: (row: R) => number): Float64Array {
  return Float64Array.from(rows, priceOf);
}

function curatorsOf(vaults: Sheet<VaultRow>, protocolId: ProtocolId): CuratorRow[] {
  const curators = new Map<string, CuratorRow>();
  for (const [at, { curator }] of vaults.rows.entries()) {
    if (curator === null) continue;
    const { totalTvlUsd = 0, vaultCount = 0 } = curators.get(curator) ?? {};
    const tvlUsd = vaults.cell("tvlUsd", at);
    curators.set(curator, {
      protocolId,
      address: curator,
      totalTvlUsd: totalTvlUsd + (typeof tvlUsd === "number" ? tvlUsd : Number.NaN),
      vaultCount: vaultCount + 1,
    });
  }
  return [...curators.values()];
}
