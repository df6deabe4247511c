import type { EntitySet } from "../protocol.ts";
import {
  fromFixed,
  type LendingRow,
  type MarketRow,
  type TokenRef,
  toUnits,
  type VaultMarketRow,
  type VaultRow,
} from "../rows.ts";
import type { MorphoDeployment } from "./deployment.ts";
import { type MarketFigures, marketFigures } from "./market-figures.ts";
import {
  CREATION,
  creationRef,
  MARKET,
  type MarketState,
  type Token,
  VAULT,
  type VaultState,
  ZERO_ADDRESS,
} from "./state.ts";
import { type VaultFigures, vaultFigures } from "./vault-figures.ts";

const PROTOCOL = "morpho-v1";

/** Rows of all markets, then of each vault and its markets. A vault with an unknown market has no rows yet. */
export function* morphoRows(
  entities: EntitySet,
  { time, deployment }: { time: number; deployment: Pick<MorphoDeployment, "listing"> },
): Generator<LendingRow> {
  const listedVaults = new Set<string>(deployment.listing?.vaults ?? []);
  const listedMarkets = marketsOf(entities, listedVaults);
  const markets = new Map<string, MarketFigures>();
  for (const { id, state } of entities.all<MarketState>(MARKET)) {
    const figures = marketFigures(state, time);
    markets.set(id, figures);
    yield { ...marketRow(id, figures), listed: listedMarkets.has(id) };
  }
  for (const { id, state } of entities.all<VaultState>(VAULT)) {
    const figures = vaultFigures(state, markets);
    if (figures === undefined) continue;
    const curator = curatorOf(state);
    yield {
      ...vaultRow(id, state, figures),
      listed: listedVaults.has(id),
      curator,
      isOfCurator: curator !== null && entities.get(CREATION, creationRef(id, curator).id) !== undefined,
    };
    yield* vaultMarketRows(id, figures);
  }
}

/** A market is listed while a listed vault has it in its withdraw queue, as in Morpho's own listing. */
function marketsOf(entities: EntitySet, vaults: ReadonlySet<string>): ReadonlySet<string> {
  return new Set(
    [...vaults].flatMap((vault) =>
      (entities.get<VaultState>(VAULT, vault)?.state.markets ?? []).map(({ id }) => id),
    ),
  );
}

function marketRow(marketId: string, figures: MarketFigures): Omit<MarketRow, "listed"> {
  const { params, supply, borrow, liquidity } = figures;
  const { decimals } = params.loan;
  return {
    table: "market",
    protocolId: PROTOCOL,
    marketId,
    ...pairOf(figures),
    supply: toUnits(supply.assets, decimals),
    borrow: toUnits(borrow.assets, decimals),
    available: toUnits(liquidity, decimals),
    ...ratesOf(figures),
    ltv: fromFixed(params.lltv, 18),
  };
}

function vaultRow(
  address: string,
  state: VaultState,
  figures: VaultFigures,
): Omit<VaultRow, "listed" | "curator" | "isOfCurator"> {
  const { asset, name, symbol, fee } = state;
  const units = (raw: bigint) => toUnits(raw, asset.decimals);
  return {
    table: "vault",
    protocolId: PROTOCOL,
    address,
    symbol,
    vaultName: name,
    underlying: refOf(asset),
    supply: units(figures.totalAssets),
    borrow: units(figures.borrowed),
    available: units(figures.liquidity),
    supplyCap: figures.supplyCap === null ? null : units(figures.supplyCap),
    borrowCap: null,
    ...ratesOf(figures),
    performanceFee: fromFixed(fee, 18),
    managementFee: 0,
    ltv: figures.lltv === null ? null : fromFixed(figures.lltv, 18),
    borrowable: figures.isBorrowable,
    depositEnabled: figures.isDepositEnabled,
  };
}

function* vaultMarketRows(
  vaultAddress: string,
  { allocations, totalAssets }: VaultFigures,
): Generator<VaultMarketRow> {
  for (const { id, market, assets, cap } of allocations) {
    const { decimals } = market.params.loan;
    yield {
      table: "vault-market",
      protocolId: PROTOCOL,
      vaultAddress,
      marketId: id,
      ...pairOf(market),
      ...ratesOf(market),
      ltv: fromFixed(market.params.lltv, 18),
      allocation: toUnits(assets, decimals),
      allocationShare: totalAssets === 0n ? 0 : Number(assets) / Number(totalAssets),
      supplyCap: cap === null ? null : toUnits(cap, decimals),
    };
  }
}

/** The curator, or the owner; null where both are the zero address. */
function curatorOf({ curator, owner }: VaultState): string | null {
  return [curator, owner].find((address) => address !== ZERO_ADDRESS) ?? null;
}

function pairOf({ params }: MarketFigures): { loan: TokenRef; collateral: TokenRef } {
  return { loan: refOf(params.loan), collateral: refOf(params.collateral) };
}

function refOf({ address, symbol }: Token): TokenRef {
  return { address, symbol };
}

function ratesOf({
  supplyApy,
  borrowApy,
  utilization,
}: Pick<MarketFigures, "supplyApy" | "borrowApy" | "utilization">) {
  return { supplyApy, borrowApy, utilizationRate: utilization };
}
