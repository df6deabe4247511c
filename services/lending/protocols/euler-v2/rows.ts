import type { EntitySet } from "../protocol.ts";
import { fromFixed, type LendingRow, type MarketRow, toUnits, type VaultRow } from "../rows.ts";
import type { AggregationState } from "./aggregation-state.ts";
import { viewAggregation } from "./aggregation-view.ts";
import type { EulerDeployment } from "./deployment.ts";
import { type EarnState, MAX_CAP } from "./earn-state.ts";
import { type EarnView, type StrategyView, viewEarn } from "./earn-view.ts";
import { AGGREGATION_VAULT, EARN_CREATION, EARN_VAULT, EVK_VAULT } from "./entity-kinds.ts";
import type { Collateral, EvkState } from "./evk-state.ts";
import { type EvkView, ltvOf, viewEvk } from "./evk-view.ts";
import { listedVaults } from "./listing.ts";

const protocolId = "euler-v2";

/** Every row of a chain's Euler vaults at `time`; each vault is accrued once. */
export function* eulerRows(
  entities: EntitySet,
  { time, deployment }: { time: number; deployment: EulerDeployment },
): Generator<LendingRow> {
  const listed = listedVaults(entities, deployment);
  const views = viewsAt(entities, time);
  for (const { id } of entities.all(EVK_VAULT)) {
    const view = views.evk(id);
    if (view) yield* evkRows(view, listed.has(id));
  }
  for (const kind of [EARN_VAULT, AGGREGATION_VAULT]) {
    for (const { id } of entities.all(kind)) {
      const view = views.earn(id);
      if (view === undefined) continue;
      const { curator } = view;
      const isOfCurator = curator !== null && entities.get(EARN_CREATION, `${id}:${curator}`) !== undefined;
      yield* earnRows(view, { listed, isOfCurator });
    }
  }
}

/** Views of the vaults at one moment, each made at its first use. */
function viewsAt(entities: EntitySet, time: number) {
  const evkViews = new Map<string, EvkView>();
  const earnViews = new Map<string, EarnView>();
  /** Earn vaults whose views are being made. */
  const open = new Set<string>();
  const evk = (address: string): EvkView | undefined => {
    const known = evkViews.get(address);
    if (known) return known;
    const vault = entities.get<EvkState>(EVK_VAULT, address);
    if (vault === undefined) return undefined;
    const view = viewEvk(vault, time);
    evkViews.set(address, view);
    return view;
  };
  const earn = (address: string): EarnView | undefined => {
    const known = earnViews.get(address);
    if (known) return known;
    // Vaults that deposit into each other cannot be told by each other: one is taken as it was read.
    if (open.has(address)) return undefined;
    open.add(address);
    const view = makeEarn(address);
    open.delete(address);
    if (view !== undefined) earnViews.set(address, view);
    return view;
  };
  const makeEarn = (address: string): EarnView | undefined => {
    const vault = entities.get<EarnState>(EARN_VAULT, address);
    if (vault !== undefined) return viewEarn(vault, strategy);
    const earlier = entities.get<AggregationState>(AGGREGATION_VAULT, address);
    return earlier && viewAggregation(earlier, { time, viewStrategy: strategy });
  };
  const strategy = (address: string): StrategyView | undefined => {
    const evkView = evk(address);
    if (evkView) return { kind: "evk", view: evkView };
    const earnView = earn(address);
    return earnView && { kind: "earn", view: earnView };
  };
  return { evk, earn };
}

function* evkRows(view: EvkView, listed: boolean): Generator<LendingRow> {
  const { address, state, supplied } = view;
  const { decimals } = state.asset;
  const units = (raw: bigint) => toUnits(raw, decimals);
  const supplyCap = view.supplyCap === null ? null : units(view.supplyCap);
  yield {
    table: "vault",
    protocolId,
    address,
    listed,
    ...governorOf(state),
    symbol: state.symbol,
    vaultName: state.name,
    underlying: tokenRef(state.asset),
    supply: units(supplied),
    borrow: units(view.borrowed),
    available: units(view.available),
    supplyCap,
    borrowCap: view.borrowCap === null ? null : units(view.borrowCap),
    supplyApy: view.supplyApy,
    borrowApy: view.borrowApy,
    utilizationRate: view.utilization,
    // supplyApy is net of the interest fee.
    performanceFee: 0,
    managementFee: 0,
    ltv: view.ltv,
    borrowable: view.borrowable,
    depositEnabled: view.depositable > 0n,
  };
  for (const collateral of view.collaterals) {
    const pair = pairOf(view, collateral);
    yield {
      table: "market",
      listed,
      ...pair,
      supply: units(supplied),
      borrow: units(view.borrowed),
      available: units(view.available),
    };
    // A vault's whole supply is available to each of its pairs.
    const share = { allocation: units(supplied), allocationShare: supplied === 0n ? 0 : 1 };
    yield { table: "vault-market", vaultAddress: address, ...pair, ...share, supplyCap };
  }
}

function* earnRows(
  view: EarnView,
  { listed, isOfCurator }: { listed: ReadonlySet<string>; isOfCurator: boolean },
): Generator<LendingRow> {
  const { address, state, supplied } = view;
  const { decimals } = state.asset;
  const units = (raw: bigint) => toUnits(raw, decimals);
  yield {
    table: "vault",
    protocolId,
    address,
    listed: listed.has(address),
    curator: view.curator,
    isOfCurator,
    symbol: state.symbol,
    vaultName: state.name,
    underlying: tokenRef(state.asset),
    supply: units(supplied),
    borrow: units(view.borrowed),
    available: units(view.available),
    supplyCap: view.supplyCap === null ? null : units(view.supplyCap),
    borrowCap: null,
    supplyApy: view.supplyApy,
    borrowApy: view.borrowApy,
    utilizationRate: supplied === 0n ? 0 : Number(view.borrowed) / Number(supplied),
    performanceFee: fromFixed(state.fee, 18),
    managementFee: 0,
    ltv: view.ltv,
    borrowable: view.borrowable,
    depositEnabled: view.depositable > 0n,
  };
  for (const { vault, assets, cap } of view.evkAllocations) {
    for (const collateral of vault.collaterals) {
      yield {
        table: "vault-market",
        vaultAddress: address,
        ...pairOf(vault, collateral),
        allocation: units(assets),
        allocationShare: supplied === 0n ? 0 : Number(assets) / Number(supplied),
        supplyCap: cap === MAX_CAP ? null : units(cap),
      };
    }
  }
}

/**
 * The columns that markets and vault markets share for a loan vault and one of its collaterals. The market's identity
 * names the vaults, its addresses and symbols the tokens they hold.
 */
function pairOf(
  { address, state, supplyApy, borrowApy, utilization }: EvkView,
  collateral: Collateral,
): Omit<MarketRow, "table" | "listed" | "supply" | "borrow" | "available"> {
  return {
    protocolId,
    marketId: `${address}:${collateral.vault}`,
    loan: tokenRef(state.asset),
    collateral: tokenRef(collateral.token),
    supplyApy,
    borrowApy,
    utilizationRate: utilization,
    ltv: ltvOf(collateral),
  };
}

function tokenRef({ address, symbol }: { address: string; symbol: string }) {
  return { address, symbol };
}

/** An EVK vault's governor; null where it has none. */
function governorOf({ governorAdmin, creator }: EvkState): Pick<VaultRow, "curator" | "isOfCurator"> {
  if (BigInt(governorAdmin) === 0n) return { curator: null, isOfCurator: false };
  return { curator: governorAdmin, isOfCurator: governorAdmin === creator };
}
