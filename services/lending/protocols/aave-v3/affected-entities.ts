import { readTopicAddress } from "../../../shared/evm/abi.ts";
import type { Hex, RawLog } from "../../../shared/evm/port.ts";
import type { EntityRef, KnownEntities } from "../protocol.ts";
import {
  type AaveDeployment,
  type AaveMarket,
  MARKET,
  type MarketState,
  marketRef,
  reserveRef,
  sentinelRef,
} from "./state.ts";

/**
 * Events of a Pool; the first indexed argument is the token. Every action on a reserve ends with ReserveDataUpdated,
 * except minting to the treasury.
 */
const POOL_TOPICS: readonly Hex[] = [
  // ReserveDataUpdated(address,uint256,uint256,uint256,uint256,uint256)
  "0x804c9b842b2748a22bb64b345453a3de7ca54a6ca45ce00d415894979e22897a",
  // MintedToTreasury(address,uint256)
  "0xbfa21aa5d5f9a1f0120a95e7c0749f389863cbdbfff531aa7339077a5bc919de",
];

/** Events of a PoolConfigurator that list or drop a reserve; the first indexed argument is the token. */
const LISTING_TOPICS: readonly Hex[] = [
  // ReserveInitialized(address,address,address,address,address)
  "0x3a0ca721fc364424566385a1aa271ed508cc2c0949c2272575fb3013a163a45f",
  // ReserveDropped(address)
  "0xeeec4c06f7adad215cbdb4d2960896c83c26aedce02dde76d36fa28588d62da4",
];

/** Events of a PoolConfigurator that change one reserve; the first indexed argument is the token. */
const CONFIGURATION_TOPICS: readonly Hex[] = [
  // ReserveBorrowing(address,bool)
  "0x2443ba28e8d1d88d531a3d90b981816a4f3b3c7f1fd4085c6029e81d1b7a570d",
  // CollateralConfigurationChanged(address,uint256,uint256,uint256)
  "0x637febbda9275aea2e85c0ff690444c8d87eb2e8339bbede9715abcc89cb0995",
  // PendingLtvChanged(address,uint256)
  "0x6a3fa1f355f7c7ab43e41cb277d1f8471f2693c63dca91049d5ec127bb588e10",
  // ReserveActive(address,bool)
  "0xc36c7d11ba01a5869d52aa4a3781939dab851cbc9ee6e7fdcedc7d58898a3f1e",
  // ReserveFrozen(address,bool)
  "0x0c4443d258a350d27dc50c378b2ebf165e6469725f786d21b30cab16823f5587",
  // ReservePaused(address,bool)
  "0xe188d542a5f11925d3a3af33703cdd30a43cb3e8066a3cf68b1b57f61a5a94b5",
  // ReserveFactorChanged(address,uint256,uint256)
  "0xb46e2b82b0c2cf3d7d9dece53635e165c53e0eaa7a44f904d61a2b7174826aef",
  // BorrowCapChanged(address,uint256,uint256)
  "0xc51aca575985d521c5072ad11549bad77013bb786d57f30f94b40ed8f8dc9bc4",
  // SupplyCapChanged(address,uint256,uint256)
  "0x0263602682188540a2d633561c0b4453b7d8566285e99f9f6018b8ef2facef49",
  // ATokenUpgraded(address,address,address)
  "0xa76f65411ec66a7fb6bc467432eb14767900449ae4469fa295e4441fe5e1cb73",
  // StableDebtTokenUpgraded(address,address,address)
  "0x7a943a5b6c214bf7726c069a878b1e2a8e7371981d516048b84e03743e67bc28",
  // VariableDebtTokenUpgraded(address,address,address)
  "0x9439658a562a5c46b1173589df89cf001483d685bad28aedaff4a88656292d81",
];

/** Events of a PoolConfigurator that change an efficiency mode. */
const EMODE_TOPICS: readonly Hex[] = [
  // EModeCategoryAdded(uint8,uint256,uint256,uint256,address,string)
  "0x0acf8b4a3cace10779798a89a206a0ae73a71b63acdd3be2801d39c2ef7ab3cb",
  // AssetCollateralInEModeChanged(address,uint8,bool)
  "0x79409190108b26fcb0e4570f8e240f627bf18fd01a55f751010224d5bd486098",
  // AssetBorrowableInEModeChanged(address,uint8,bool)
  "0x60087ca045be9d8d1301445e67d6248eddba97629c80284fa4910c0e52f103ab",
  // AssetLtvzeroInEModeChanged(address,uint8,bool)
  "0xc0a450fbad635333e47f3322ec028a8e0b3909f79c721312a356a0fab5fa8b94",
];

/** Events of a PoolAddressesProvider: a new contract under one of its names, or a new implementation of one. */
const PROVIDER_TOPICS: readonly Hex[] = [
  // PoolUpdated(address,address)
  "0x90affc163f1a2dfedcd36aa02ed992eeeba8100a4014f0b4cdc20ea265a66627",
  // PoolConfiguratorUpdated(address,address)
  "0x8932892569eba59c8382a089d9b732d1f49272878775235761a2a6b0309cd465",
  // AddressSet(bytes32,address,address)
  "0x9ef0e8c8e52743bb38b83b17d9429141d494b8041ca6d616a6c77cebae9cd8b7",
  // AddressSetAsProxy(bytes32,address,address,address)
  "0x3bbd45b5429b385e3fb37ad5cd1cd1435a3c8ec32196c7937597365a3fd3e99c",
];

/** PriceOracleSentinelUpdated(address,address), of a PoolAddressesProvider. */
const SENTINEL_TOPIC: Hex = "0x5326514eeca90494a14bedabcff812a0e683029ee85d1e23824d44fd14cd6ae7";

export const AAVE_TOPICS: readonly Hex[] = [
  ...POOL_TOPICS,
  ...LISTING_TOPICS,
  ...CONFIGURATION_TOPICS,
  ...EMODE_TOPICS,
  ...PROVIDER_TOPICS,
  SENTINEL_TOPIC,
];

/** The entities that a log changes: the emitter must be a contract of one of the markets as last read. */
export function affectedAaveEntities(
  log: RawLog,
  { known, deployment }: { known: KnownEntities; deployment: AaveDeployment },
): EntityRef[] {
  return deployment.markets.flatMap((market) => {
    if (isEmittedBy(log, market.provider, [SENTINEL_TOPIC])) return [sentinelRef(market.provider)];
    const state = known.state<MarketState>(MARKET, market.provider);
    // A market that could not be read yet has only its provider's events: they show when it becomes readable.
    if (state === undefined)
      return isEmittedBy(log, market.provider, PROVIDER_TOPICS) ? [marketRef(market.provider)] : [];
    return affectedInMarket(log, market, state);
  });
}

function affectedInMarket(log: RawLog, { provider }: AaveMarket, state: MarketState): EntityRef[] {
  const { pool, configurator, reserves } = state;
  const all = () => reserves.map((asset) => reserveRef(pool, asset));
  const named = () => reserveRef(pool, readTopicAddress(log.topics[1]));
  if (isEmittedBy(log, pool, POOL_TOPICS) || isEmittedBy(log, configurator, CONFIGURATION_TOPICS))
    return [named()];
  if (isEmittedBy(log, configurator, EMODE_TOPICS)) return [marketRef(provider)];
  if (isEmittedBy(log, configurator, LISTING_TOPICS)) return [marketRef(provider), named()];
  // Earlier events of the new contract were not matched, as its address was unknown: everything is read again.
  if (isEmittedBy(log, provider, PROVIDER_TOPICS)) return [marketRef(provider), ...all()];
  return [];
}

function isEmittedBy(log: RawLog, emitter: Hex, topics: readonly Hex[]): boolean {
  return log.address === emitter && topics.includes(log.topics[0] as Hex);
}
