import { formatDateTime } from "../../../shared/contract/cells.ts";
import type { OrderTerm } from "../../../shared/contract/order.ts";
import type {
  lendingaPools,
  lendingbCurators,
  lendingbCuratorVaults,
  lendingbMarkets,
  lendingbVaultMarkets,
  lendingbVaults,
  lendingcMarkets,
  lendingcVaultMarkets,
} from "../../contract.ts";
import type { CuratorRegistry } from "../../curators.ts";
import type { ProtocolId } from "../../protocols/protocol-id.ts";
import { ColumnTable } from "../columns/column-table.ts";
import {
  ColumnDictionaries,
  layoutOf,
  lookupByText,
  mapTexts,
  pick,
  positionsOf,
  RowColumns,
  replaceTexts,
} from "../columns/row-columns.ts";
import {
  type ColumnsFor,
  type ConstantCells,
  computed,
  constant,
  type FlagCells,
  flags,
  type NumberCells,
  numbers,
  texts,
} from "../columns/table-columns.ts";
import type { PriceTable } from "../prices/price-table.ts";
import { type Curation, findCuration } from "./curation.ts";
import {
  type MarketColumns,
  NO_CURATOR,
  tokenPricesUsd,
  type VaultColumns,
  type VaultMarketColumns,
} from "./layouts.ts";
import type { RowSet } from "./row-set.ts";

const asc = (field: string): OrderTerm => ({ field, direction: "asc" });
const desc = (field: string): OrderTerm => ({ field, direction: "desc" });

/** As in `rowOrder` of the declarations. */
const ORDERS = {
  vaults: [desc("tvlUsd"), asc("poolAddress"), asc("underlyingAddress")],
  markets: [desc("tvlUsd"), asc("marketId")],
  curators: [desc("totalTvlUsd"), asc("curatorAddress")],
};

/** A curator with its vaults of one protocol. */
interface CuratorRow {
  readonly address: string;
  /** NaN if any vault with assets has no price: a sum of the others would pass for the total. */
  readonly totalTvlUsd: number;
  readonly vaultCount: number;
  readonly listed: boolean;
}

export interface TableOptions {
  readonly rows: RowSet;
  readonly prices: PriceTable;
  readonly protocol: ProtocolId;
  readonly chainId: number;
  /** Unix seconds of the rows' block. */
  readonly time: number;
  readonly curators: CuratorRegistry;
}

/** Every list of one protocol on one chain, at one block and one set of prices; each is built at its first use. */
export class ProtocolTables {
  readonly #options: TableOptions;
  /** Cells that are equal in all rows. */
  readonly #shared: Record<"chainId" | "protocolId" | "updatedAt", ConstantCells>;
  #curationOfVaults: Curation | undefined;
  #vaults: ColumnTable | undefined;
  #curators: ColumnTable | undefined;
  #markets: ColumnTable | undefined;

  constructor(options: TableOptions) {
    this.#options = options;
    this.#shared = {
      chainId: constant(options.chainId),
      protocolId: constant(options.protocol),
      updatedAt: constant(formatDateTime(options.time)),
    };
  }

  /** Equal for equal prices. */
  get priceTag(): string {
    return this.#options.prices.tag;
  }

  get vaults(): ColumnTable {
    this.#vaults ??= this.#makeVaults();
    return this.#vaults;
  }

  get curators(): ColumnTable {
    this.#curators ??= this.#makeCurators();
    return this.#curators;
  }

  get markets(): ColumnTable {
    this.#markets ??= this.#makeMarkets();
    return this.#markets;
  }

  /** The markets of one vault; undefined where the protocol has no such vault. */
  marketsOf(vault: string): ColumnTable | undefined {
    const { vaults, vaultMarkets } = this.#options.rows;
    const positions = positionsOf(vaultMarkets.text("vault"), vault);
    const isKnown = positions.length > 0 || positionsOf(vaults.text("address"), vault).length > 0;
    return isKnown ? this.#makeVaultMarkets(pick(vaultMarkets, positions)) : undefined;
  }

  #makeVaults(): ColumnTable {
    const { rows, prices, chainId, curators } = this.#options;
    const { vaults } = rows;
    const { count } = vaults;
    const usd = tokenPricesUsd(vaults, prices);
    const inUsd = (amounts: Float64Array) =>
      computed(count, (at) => (amounts[at] as number) * (usd[at] as number));
    const column = (name: Parameters<typeof vaults.number>[0]) => vaults.number(name);
    const [supply, supplyCap, supplyApy] = [column("supply"), column("supplyCap"), column("supplyApy")];
    const [performanceFee, managementFee] = [column("performanceFee"), column("managementFee")];
    const supplyUsd = inUsd(supply);
    const address = texts(vaults.text("address"));
    const { curator, curated } = this.#curation;
    const columns: ColumnsFor<typeof lendingaPools> &
      ColumnsFor<typeof lendingbVaults> &
      ColumnsFor<typeof lendingbCuratorVaults> & { isCurated: FlagCells } = {
      ...this.#shared,
      curatorAddress: texts(curator),
      curatorName: texts(replaceTexts(curator, (account) => curators.nameOf(chainId, account))),
      poolAddress: address,
      vaultAddress: address,
      symbol: texts(vaults.text("symbol")),
      vaultName: texts(vaults.text("vaultName")),
      underlyingAddress: texts(vaults.text("token")),
      underlyingSymbol: texts(vaults.text("tokenSymbol")),
      supply: numbers(supply),
      supplyUsd,
      borrow: numbers(column("borrow")),
      borrowUsd: inUsd(column("borrow")),
      tvlUsd: supplyUsd,
      availableLiquidityUsd: inUsd(column("available")),
      supplyCap: numbers(supplyCap),
      supplyCapUsd: inUsd(supplyCap),
      borrowCap: numbers(column("borrowCap")),
      borrowCapUsd: inUsd(column("borrowCap")),
      remainingCapacityUsd: computed(
        count,
        (at) => Math.max((supplyCap[at] as number) - (supply[at] as number), 0) * (usd[at] as number),
      ),
      supplyApy: numbers(supplyApy),
      borrowApy: numbers(column("borrowApy")),
      netSupplyApy: computed(
        count,
        (at) =>
          (supplyApy[at] as number) * (1 - (performanceFee[at] as number)) - (managementFee[at] as number),
      ),
      performanceFee: numbers(performanceFee),
      managementFee: numbers(managementFee),
      utilizationRate: numbers(column("utilizationRate")),
      ltv: numbers(column("ltv")),
      borrowable: flags(column("borrowable")),
      depositEnabled: flags(column("depositEnabled")),
      ...priceColumns(vaults, prices),
      listed: flags(column("listed")),
      isCurated: flags(curated),
    };
    return new ColumnTable({ count, columns, defaultOrder: ORDERS.vaults });
  }

  get #curation(): Curation {
    this.#curationOfVaults ??= findCuration(this.#options.rows.vaults, this.#options);
    return this.#curationOfVaults;
  }

  #makeCurators(): ColumnTable {
    const { chainId, curators } = this.#options;
    const rows = this.#curatorRows();
    const { count } = rows;
    const address = rows.text("address");
    const isVerified = mapTexts(address, (curator) => Number(curators.isVerified(chainId, curator)));
    const columns: ColumnsFor<typeof lendingbCurators> = {
      ...this.#shared,
      curatorAddress: texts(address),
      curatorName: texts(replaceTexts(address, (curator) => curators.nameOf(chainId, curator))),
      totalTvlUsd: numbers(rows.number("totalTvlUsd")),
      vaultCount: numbers(rows.number("vaultCount")),
      verified: flags(isVerified),
      listed: flags(rows.number("listed")),
    };
    return new ColumnTable({ count, columns, defaultOrder: ORDERS.curators });
  }

  #curatorRows() {
    const { vaults } = this;
    const { curator, curated } = this.#curation;
    const { ids, dictionary } = curator;
    const [tvlUsd, supply, listed] = ["tvlUsd", "supply", "listed"].map((name) => vaults.numbers(name)) as [
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    const counts = new Uint32Array(dictionary.size);
    const listedCounts = new Uint32Array(dictionary.size);
    const sums = new Float64Array(dictionary.size);
    // In the same order in every process: float sums depend on it. NaN makes the sum NaN.
    for (const at of vaults.find({ order: [], offset: 0, limit: vaults.count })) {
      if (curated[at] !== 1) continue;
      const id = ids[at] as number;
      counts[id] = (counts[id] as number) + 1;
      listedCounts[id] = (listedCounts[id] as number) + (listed[at] as number);
      // Nothing is worth nothing, whatever its price.
      if (supply[at] !== 0) sums[id] = (sums[id] as number) + (tvlUsd[at] as number);
    }
    const rows = new RowColumns(CURATOR_LAYOUT, new ColumnDictionaries());
    for (const [id, vaultCount] of counts.entries()) {
      const address = dictionary.textOf(id);
      if (vaultCount === 0 || address === NO_CURATOR) continue;
      const isListed = (listedCounts[id] as number) > 0;
      rows.add({ address, vaultCount, totalTvlUsd: sums[id] as number, listed: isListed });
    }
    return rows;
  }

  #makeMarkets(): ColumnTable {
    const { markets } = this.#options.rows;
    const { count } = markets;
    const usd = tokenPricesUsd(markets, this.#options.prices);
    const inUsd = (amounts: Float64Array) =>
      computed(count, (at) => (amounts[at] as number) * (usd[at] as number));
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
      ...priceColumns(markets, this.#options.prices),
      listed: flags(markets.number("listed")),
    };
    return new ColumnTable({ count, columns, defaultOrder: ORDERS.markets });
  }

  #makeVaultMarkets(vaultMarkets: VaultMarketColumns): ColumnTable {
    const { rows, prices } = this.#options;
    const { count } = vaultMarkets;
    const usd = tokenPricesUsd(vaultMarkets, prices);
    const inUsd = (amounts: Float64Array) =>
      computed(count, (at) => (amounts[at] as number) * (usd[at] as number));
    const supplyOf = lookupByText(rows.markets.text("marketId"), rows.markets.number("supply"));
    const supply = mapTexts(vaultMarkets.text("marketId"), supplyOf);
    const ltv = numbers(vaultMarkets.number("ltv"));
    const columns: ColumnsFor<typeof lendingbVaultMarkets> &
      ColumnsFor<typeof lendingcVaultMarkets> & { tvlUsd: NumberCells } = {
      ...this.#shared,
      ...pairColumns(vaultMarkets),
      /** The market's TVL: it orders the rows but is not shown. */
      tvlUsd: inUsd(supply),
      ...rateColumns(vaultMarkets),
      ltv,
      lltv: ltv,
      allocationUsd: inUsd(vaultMarkets.number("allocation")),
      allocationShare: numbers(vaultMarkets.number("allocationShare")),
      supplyCapUsd: inUsd(vaultMarkets.number("supplyCap")),
      ...priceColumns(vaultMarkets, prices),
    };
    return new ColumnTable({ count, columns, defaultOrder: ORDERS.markets });
  }
}

const CURATOR_LAYOUT = layoutOf<CuratorRow>()({
  texts: { address: (row) => row.address },
  numbers: {
    totalTvlUsd: (row) => row.totalTvlUsd,
    vaultCount: (row) => row.vaultCount,
    listed: (row) => row.listed,
  },
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

function priceColumns(rows: VaultColumns | MarketColumns | VaultMarketColumns, prices: PriceTable) {
  const tokens = rows.text("token");
  return {
    priceSource: texts(replaceTexts(tokens, (token) => prices.of(token)?.source ?? "")),
    priceAgeSeconds: numbers(mapTexts(tokens, (token) => prices.of(token)?.ageSeconds ?? Number.NaN)),
  };
}

function rateColumns(rows: MarketColumns | VaultMarketColumns) {
  return {
    supplyApy: numbers(rows.number("supplyApy")),
    borrowApy: numbers(rows.number("borrowApy")),
    utilizationRate: numbers(rows.number("utilizationRate")),
  };
}
