import { createRequire } from "node:module";
import { concat, encodeAbiParameters, type Hex, parseAbiParameters } from "viem";

/** The genuine Aave v3 contracts, as published on npm. */
const FOLDERS = {
  PoolAddressesProvider: "protocol/configuration",
  PriceOracleSentinel: "protocol/configuration",
  SequencerOracle: "mocks/oracle",
  ACLManager: "protocol/configuration",
  SupplyLogic: "protocol/libraries/logic",
  BorrowLogic: "protocol/libraries/logic",
  FlashLoanLogic: "protocol/libraries/logic",
  LiquidationLogic: "protocol/libraries/logic",
  EModeLogic: "protocol/libraries/logic",
  BridgeLogic: "protocol/libraries/logic",
  PoolLogic: "protocol/libraries/logic",
  ConfiguratorLogic: "protocol/libraries/logic",
  Pool: "protocol/pool",
  PoolConfigurator: "protocol/pool",
  DefaultReserveInterestRateStrategy: "protocol/pool",
  AToken: "protocol/tokenization",
  StableDebtToken: "protocol/tokenization",
  VariableDebtToken: "protocol/tokenization",
  AaveOracle: "misc",
  AaveProtocolDataProvider: "misc",
} as const;

export type AaveContract = keyof typeof FOLDERS;

/** Each before those that it is linked into. */
export const AAVE_LIBRARIES = [
  "SupplyLogic",
  "BorrowLogic",
  "FlashLoanLogic",
  "LiquidationLogic",
  "EModeLogic",
  "BridgeLogic",
  "PoolLogic",
  "ConfiguratorLogic",
] as const satisfies readonly AaveContract[];

export type AaveLibrary = (typeof AAVE_LIBRARIES)[number];
export type AaveLibraries = Readonly<Record<AaveLibrary, Hex>>;

interface Artifact {
  readonly bytecode: string;
  readonly linkReferences: Readonly<
    Record<string, Readonly<Record<string, readonly { start: number; length: number }[]>>>
  >;
}

/** Creation code, linked, with its constructor's arguments (a list of types, as in Solidity) behind it. */
export function aaveCreation(
  contract: AaveContract,
  {
    libraries,
    types,
    args = [],
  }: { libraries?: AaveLibraries; types?: string; args?: readonly unknown[] } = {},
): Hex {
  const path = `@aave/core-v3/artifacts/contracts/${FOLDERS[contract]}/${contract}.sol/${contract}.json`;
  const { bytecode, linkReferences } = createRequire(import.meta.url)(path) as Artifact;
  let linked = bytecode;
  for (const [name, places] of Object.values(linkReferences).flatMap(Object.entries)) {
    const address = libraries?.[name as AaveLibrary];
    if (!address) throw new Error(`Cannot create ${contract}: it is linked to ${name}, which has no address`);
    for (const { start } of places) {
      const at = 2 + 2 * start;
      linked = linked.slice(0, at) + address.slice(2) + linked.slice(at + 40);
    }
  }
  if (types === undefined) return linked as Hex;
  return concat([linked as Hex, encodeAbiParameters(parseAbiParameters(types), args)]);
}
