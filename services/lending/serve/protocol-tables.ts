import { formatDateTime } from "../../shared/contract/cells.ts";
import type { OrderTerm } from "../../shared/contract/order.ts";
import type {
  lendingaPools,
  lendingbCurators,
  lendingbCuratorVaults,
  lendingbMarkets,
  lendingbVaultMarkets,
  lendingbVaults,
  lendingcMarkets,
  lendingcVaultMarkets,
} from "../contract.ts";
import type { CuratorRegistry } from "../curators.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import { type MarketColumns, NO_CURATOR, usdOfRows, type VaultMarketColumns } from "./layouts.ts";
import type { PriceTable } from "./price-table.ts";
import {
  byText,
  ColumnMemory,
  layoutOf,
  numberByText,
  pick,
  positionsOf,
  RowColumns,
  renamed,
} from "./row-columns.ts";
import type { RowSet } from "./row-set.ts";
import { Sheet } from "./sheet.ts";
import {
  type ColumnsFor,
  type ConstantCells,
  constant,
  flags,
  made,
  type NumberCells,
  numbers,
  texts,
} from "./sheet-columns.ts";

const asc = (field: string): OrderTerm => ({ field, direction: "asc" });
const desc = (field: string): OrderTerm => ({ field, direction: "desc" });

/** As the declarations' rowOrder says. */
const ORDERS = {
  vaults: [desc("tvlUsd"), asc("poolAddress"), asc("underlyingAddress")],
  markets: [desc("tvlUsd"), asc("marketId")],
  curators: [desc("totalTvlUsd"), asc("curatorAddress")],
};

/** A curator with all its vaults of one protocol. */
interface CuratorRow {
  readonly address: string;
  /** NaN if any vault has no price. */
  readonly totalTvlUsd: number;
  readonly vaultCount: number;
}

export interface TableOptions {
  readonly rows: RowSet;
  readonly prices: PriceTable;
  readonly protocol: ProtocolId;
  readonly chainId: number;
  /** Unix seconds of the block the rows stand on. */
  readonly time: number;
  readonly curators: CuratorRegistry;
}

/** Every list of one protocol on one chain, at one block and one set of prices; each made when it is first asked for. */
export class ProtocolTables {
  readonly #options: TableOptions;
  /** What all rows have alike. */
  readonly #shared: Record<"chainId" | "protocolId" | "updatedAt", ConstantCells>;
  #vaults: Sheet | undefined;
  #curators: Sheet | undefined;
  #markets: Sheet | undefined;

  constructor(options: TableOptions) {
    this.#options = options;
    this.#shared = {
      chainId: constant(options.chainId),
      protocolId: constant(options.protocol),
      updatedAt: constant(formatDateTime(options.time)),
    };
  }

  get vaults(): Sheet {
    this.#vaults ??= this.#makeVaults();
    return this.#vaults;
  }

  get curators(): Sheet {
    this.#curators ??= this.#makeCurators();
    return this.#curators;
  }

  get markets(): Sheet {
    this.#markets ??= this.#makeMarkets();
    return this.#markets;
  }

  /** The markets of one vault; undefined where the protocol has no such vault. */
  marketsOf(vault: string): Sheet | undefined {
    const { vaults, vaultMarkets } = this.#options.rows;
    const positions = positionsOf(vaultMarkets.text("vault"), vault);
    const isKnown = positions.length > 0 || positionsOf(vaults.text("address"), vault).length > 0;
    return isKnown ? this.#makeVaultMarkets(pick(vaultMarkets, positions)) : undefined;
  }

  #makeVaults(): Sheet {
    const { rows, prices, chainId, curators } = this.#options;
    const { vaults } = rows;
    const { count } = vaults;
    const usd = usdOfRows(vaults, prices);
    const inUsd = (amounts: Float64Array) =>
      made(count, (at) => (amounts[at] as number) * (usd[at] as number));
    const of = (name: Parameters<typeof vaults.number>[0]) => vaults.number(name);
    const [supply, supplyCap, supplyApy] = [of("supply"), of("supplyCap"), of("supplyApy")];
    const [performanceFee, managementFee] = [of("performanceFee"), of("managementFee")];
    const supplyUsd = inUsd(supply);
    const address = texts(vaults.text("address"));
    const columns: ColumnsFor<typeof lendingaPools> &
      ColumnsFor<typeof lendingbVaults> &
      ColumnsFor<typeof lendingbCuratorVaults> = {
      ...this.#shared,
      curatorAddress: texts(vaults.text("curator")),
      curatorName: texts(renamed(vaults.text("curator"), (curator) => curators.nameOf(chainId, curator))),
      poolAddress: address,
      vaultAddress: address,
      symbol: texts(vaults.text("symbol")),
      vaultName: texts(vaults.text("vaultName")),
      underlyingAddress: texts(vaults.text("token")),
      underlyingSymbol: texts(vaults.text("tokenSymbol")),
      supply: numbers(supply),
      supplyUsd,
      borrow: numbers(of("borrow")),
      borrowUsd: inUsd(of("borrow")),
      tvlUsd: supplyUsd,
      availableLiquidityUsd: inUsd(of("available")),
      supplyCap: numbers(supplyCap),
      supplyCapUsd: inUsd(supplyCap),
      borrowCap: numbers(of("borrowCap")),
      borrowCapUsd: inUsd(of("borrowCap")),
      remainingCapacityUsd: made(
        count,
        (at) => Math.max((supplyCap[at] as number) - (supply[at] as number), 0) * (usd[at] as number),
      ),
      supplyApy: numbers(supplyApy),
      borrowApy: numbers(of("borrowApy")),
      netSupplyApy: made(
        count,
        (at) =>
          (supplyApy[at] as number) * (1 - (performanceFee[at] as number)) - (managementFee[at] as number),
      ),
      performanceFee: numbers(performanceFee),
      managementFee: numbers(managementFee),
      utilizationRate: numbers(of("utilizationRate")),
      ltv: numbers(of("ltv")),
      borrowable: flags(of("borrowable")),
      depositEnabled: flags(of("depositEnabled")),
    };
    return new Sheet({ count, columns, defaultOrder: ORDERS.vaults });
  }

  #makeCurators(): Sheet {
    const { chainId, curators } = this.#options;
    const rows = this.#curatorRows();
    const { count } = rows;
    const address = rows.text("address");
    const isVerified = byText(address, (curator) => Number(curators.isVerified(chainId, curator)));
    const columns: ColumnsFor<typeof lendingbCurators> = {
      ...this.#shared,
      curatorAddress: texts(address),
      curatorName: texts(renamed(address, (curator) => curators.nameOf(chainId, curator))),
      totalTvlUsd: numbers(rows.number("totalTvlUsd")),
      vaultCount: numbers(rows.number("vaultCount")),
      verified: flags(isVerified),
    };
    return new Sheet({ count, columns, defaultOrder: ORDERS.curators });
  }

  #curatorRows() {
    const { vaults } = this;
    const { ids, book } = this.#options.rows.vaults.text("curator");
    const tvlUsd = vaults.numbers("tvlUsd");
    const counts = new Uint32Array(book.size);
    const sums = new Float64Array(book.size);
    // In one order everywhere: sums of floats depend on it. NaN makes NaN.
    for (const at of vaults.find({ order: [], offset: 0, limit: vaults.count })) {
      const id = ids[at] as number;
      counts[id] = (counts[id] as number) + 1;
      sums[id] = (sums[id] as number) + (tvlUsd[at] as number);
    }
    const rows = new RowColumns(CURATOR_LAYOUT, new ColumnMemory());
    for (const [id, vaultCount] of counts.entries()) {
      const address = book.textOf(id);
      if (vaultCount === 0 || address === NO_CURATOR) continue;
      rows.add({ address, vaultCount, totalTvlUsd: sums[id] as number });
    }
    return rows;
  }

  #makeMarkets(): Sheet {
    const { markets } = this.#options.rows;
    const { count } = markets;
    const usd = usdOfRows(markets, this.#options.prices);
    const inUsd = (amounts: Float64Array) =>
      made(count, (at) => (amounts[at] as number) * (usd[at] as number));
    const supplyUsd = inUsd(markets.number("supply"));
    const ltv = numbers(markets.number("ltv"));
    const columns: ColumnsFor<typeof lendingbMarkets> & ColumnsFor<typeof lendingcMarkets> = {
      ...this.#shared,
      ...pairColumns(markets),
      supplyUsd,
      borrowUsd: inUsd(markets.number("borrow")),
      tvlUsd: supplyUsd,
      availableLiquidityUsd: inUsd(markets.number("available")),
      ...rateColumns(markets),
      ltv,
      lltv: ltv,
    };
    return new Sheet({ count, columns, defaultOrder: ORDERS.markets });
  }

  #makeVaultMarkets(vaultMarkets: VaultMarketColumns): Sheet {
    const { rows, prices } = this.#options;
    const { count } = vaultMarkets;
    const usd = usdOfRows(vaultMarkets, prices);
    const inUsd = (amounts: Float64Array) =>
      made(count, (at) => (amounts[at] as number) * (usd[at] as number));
    const supplyOf = numberByText(rows.markets.text("marketId"), rows.markets.number("supply"));
    const supply = byText(vaultMarkets.text("marketId"), supplyOf);
    const ltv = numbers(vaultMarkets.number("ltv"));
    const columns: ColumnsFor<typeof lendingbVaultMarkets> &
      ColumnsFor<typeof lendingcVaultMarkets> & { tvlUsd: NumberCells } = {
      ...this.#shared,
      ...pairColumns(vaultMarkets),
      /** Of the market, which orders the rows unseen. */
      tvlUsd: inUsd(supply),
      ...rateColumns(vaultMarkets),
      ltv,
      lltv: ltv,
      allocationUsd: inUsd(vaultMarkets.number("allocation")),
      allocationShare: numbers(vaultMarkets.number("allocationShare")),
      supplyCapUsd: inUsd(vaultMarkets.number("supplyCap")),
    };
    return new Sheet({ count, columns, defaultOrder: ORDERS.markets });
  }
}

const CURATOR_LAYOUT = layoutOf<CuratorRow>()({
  texts: { address: (row) => row.address },
  numbers: { totalTvlUsd: (row) => row.totalTvlUsd, vaultCount: (row) => row.vaultCount },
});

function pairColumns(rows: MarketColumns | VaultMarketColumns) {
  return {
    marketId: texts(rows.text("marketId")),
    loanAddress: texts(rows.text("token")),
    loanSymbol: texts(rows.text("loanSymbol")),
    collateralAddress: texts(rows.text("collateral")),
    collateralSymbol: texts(rows.text("collateralSymbol")),
  };
}

function rateColumns(rows: MarketColumns | VaultMarketColumns) {
  return {
    supplyApy: numbers(rows.number("supplyApy")),
    borrowApy: numbers(rows.number("borrowApy")),
    utilizationRate: numbers(rows.number("utilizationRate")),
  };
}
