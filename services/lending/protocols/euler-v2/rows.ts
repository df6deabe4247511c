import type { Entity, EntitySet } from "../protocol.ts";
import { fromFixed, type LendingRow, type MarketRow, toUnits, type VaultRow } from "../rows.ts";
import type { EulerDeployment } from "./deployment.ts";
import { type EarnState, MAX_CAP } from "./earn-state.ts";
import { type EarnView, viewEarn } from "./earn-view.ts";
import { EARN_CREATION, EARN_VAULT, EVK_VAULT } from "./entity-kinds.ts";
import type { Collateral, EvkState } from "./evk-state.ts";
import { type EvkView, ltvOf, viewEvk } from "./evk-view.ts";
import { listedVaults } from "./listing.ts";
import { toOraclePrice } from "./oracle.ts";

const protocolId = "euler-v2";

/** Every row of a chain's Euler vaults at `time`; each EVK vault is accrued once. */
export function* eulerRows(
  entities: EntitySet,
  { time, deployment }: { time: number; deployment: EulerDeployment },
): Generator<LendingRow> {
  const listed = listedVaults(entities, deployment);
  const views = new Map<string, EvkView>();
  const evkView = (address: string): EvkView | undefined => {
    const known = views.get(address);
    if (known) return known;
    const vault = entities.get<EvkState>(EVK_VAULT, address);
    if (vault === undefined) return undefined;
    const view = viewEvk(listed.has(address) ? vault : withoutQuote(vault), time);
    views.set(address, view);
    return view;
  };
  for (const { id } of entities.all(EVK_VAULT)) {
    const view = evkView(id);
    if (view) yield* evkRows(view, listed.has(id));
  }
  for (const vault of entities.all<EarnState>(EARN_VAULT)) {
    const curator = curatorOf(vault.state);
    const isOfCurator =
      curator !== null && entities.get(EARN_CREATION, `${vault.id}:${curator}`) !== undefined;
    yield* earnRows(viewEarn(vault, evkView), { listed, isOfCurator });
  }
}

/** A vault's creator chooses its oracle, which can give any token any price: only a listed vault's is believed. */
function withoutQuote(vault: Entity<EvkState>): Entity<EvkState> {
  return { ...vault, state: { ...vault.state, quote: null } };
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
    oracle: toOraclePrice(state.quote),
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
    curator: curatorOf(state),
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
    borrowable: false,
    depositEnabled: view.depositEnabled,
    oracle: view.oracle,
  };
  for (const { strategy, assets, vault } of view.allocations) {
    if (vault === undefined) continue;
    for (const collateral of vault.collaterals) {
      yield {
        table: "vault-market",
        vaultAddress: address,
        ...pairOf(vault, collateral),
        allocation: units(assets),
        allocationShare: supplied === 0n ? 0 : Number(assets) / Number(supplied),
        supplyCap: strategy.cap === MAX_CAP ? null : units(strategy.cap),
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
    oracle: toOraclePrice(state.quote),
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

/** The curator, or the owner; null where both are the zero address. */
function curatorOf({ curator, owner }: EarnState): string | null {
  return [curator, owner].find((account) => BigInt(account) !== 0n) ?? null;
}
