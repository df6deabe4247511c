import { concat, encodeAbiParameters, getContractAddress, type Hex, keccak256, zeroAddress } from "viem";
import { type MarketParams, marketIdOf, readMorphoBytecode } from "../contracts/morpho/abi.ts";
import { lossKeepingVault } from "../contracts/morpho/artifacts.ts";
import type { Address } from "../node/transactions.ts";
import type { DeployedToken as Token, Tokens } from "../pools.ts";
import {
  MORPHO_MARKETS,
  MORPHO_USERS,
  MORPHO_VAULTS,
  type MorphoMarketName,
  type MorphoMarketSpec,
  type MorphoVaultName,
  type MorphoVaultSpec,
} from "./market.ts";

export interface MorphoMarket {
  readonly id: Hex;
  readonly params: MarketParams;
  readonly loan: Token;
  /** Absent in an idle market. */
  readonly collateral?: Token;
  /** The oracle's answer at the tokens' starting prices. */
  readonly price: bigint;
  readonly spec: MorphoMarketSpec;
}

export interface MorphoVault {
  readonly address: Address;
  readonly asset: Token;
  readonly factory: Address;
  /** Of the contract's constructor and its CREATE2 salt. */
  readonly creation: {
    readonly initialOwner: Address;
    readonly initialTimelock: bigint;
    readonly asset: Address;
    readonly name: string;
    readonly symbol: string;
    readonly salt: Hex;
  };
  readonly spec: MorphoVaultSpec;
}

/** The owner is that of Morpho and of every vault, and what these earn goes there, too. */
export type MorphoActors = Readonly<Record<"owner" | (typeof MORPHO_USERS)[number], Address>>;

export interface MorphoDeployment {
  readonly actors: MorphoActors;
  readonly morpho: Address;
  readonly irm: Address;
  /** Of vaults v1.0 and v1.1. */
  readonly factories: Readonly<Record<MorphoVaultSpec["version"], Address>>;
  readonly markets: Readonly<Record<MorphoMarketName, MorphoMarket>>;
  readonly vaults: Readonly<Record<MorphoVaultName, MorphoVault>>;
}

const DAY_S = 86_400n;
/** Of the owner's transactions: Morpho, its rate model, two factories, then an oracle for each market that needs one. */
const FIRST_ORACLE = 4;

/** Where everything will be: follows from the owner, whose first transactions these are, and the tokens. */
export function planMorpho(
  tokens: Tokens,
  { owner, users }: { owner: Address; users: readonly Address[] },
): MorphoDeployment {
  if (users.length < MORPHO_USERS.length)
    throw new Error(`morpho-v1 needs ${MORPHO_USERS.length} users, not ${users.length}`);
  const byRole = Object.fromEntries(MORPHO_USERS.map((role, i) => [role, users[i]]));
  const actors = { owner, ...byRole } as MorphoActors;
  const created = (nonce: number) =>
    getContractAddress({ from: owner, nonce: BigInt(nonce) }).toLowerCase() as Hex;
  const morpho = created(0);
  const irm = created(1);
  const factories = { "1.0": created(2), "1.1": created(3) };

  let oracles = FIRST_ORACLE;
  const markets = mapValues(MORPHO_MARKETS, (spec: MorphoMarketSpec) => {
    const oracle = spec.collateral === undefined ? zeroAddress : created(oracles++);
    return planMarket(spec, { tokens, oracle, irm });
  });
  const vaults = mapValues(MORPHO_VAULTS, (spec: MorphoVaultSpec) => {
    const factory = factories[spec.version];
    return planVault(spec, { tokens, factory, morpho, owner });
  });
  return { actors, morpho, irm, factories, markets, vaults };
}

function planMarket(
  spec: MorphoMarketSpec,
  { tokens, oracle, irm }: { tokens: Tokens; oracle: Address; irm: Address },
): MorphoMarket {
  const loan = tokens[spec.loan];
  const collateral = spec.collateral && tokens[spec.collateral];
  const params: MarketParams = {
    loanToken: loan.address,
    collateralToken: collateral?.address ?? zeroAddress,
    oracle,
    irm: collateral ? irm : zeroAddress,
    lltv: BigInt(spec.lltvPct * 10) * 10n ** 15n,
  };
  const price = collateral ? oraclePrice(loan, collateral) : 0n;
  return { id: marketIdOf(params), params, loan, ...(collateral ? { collateral } : {}), price, spec };
}

/** What Morpho's oracles answer: raw units of the loan token for a raw unit of the collateral, times 1e36. */
export function oraclePrice(loan: Token, collateral: Token): bigint {
  const cents = (token: Token) => BigInt(Math.round(token.usd * 10_000));
  return (cents(collateral) * 10n ** BigInt(36 + loan.decimals - collateral.decimals)) / cents(loan);
}

/** A vault's creation code, which its factory takes as an argument. */
export function vaultCode(version: MorphoVaultSpec["version"]): Hex {
  return version === "1.0" ? readMorphoBytecode("MetaMorpho") : lossKeepingVault.bytecode;
}

function planVault(
  spec: MorphoVaultSpec,
  context: { tokens: Tokens; factory: Address; morpho: Address; owner: Address },
): MorphoVault {
  const { name, symbol, version } = spec;
  const { factory, morpho, owner } = context;
  const asset = context.tokens[spec.asset];
  // v1.0 takes no less than a day.
  const initialTimelock = version === "1.0" ? DAY_S : 0n;
  const salt = keccak256(`0x${Buffer.from(symbol).toString("hex")}`);
  const types = ["address", "address", "uint256", "address", "string", "string"].map((type) => ({ type }));
  const bytecode = concat([
    vaultCode(version),
    encodeAbiParameters(types, [owner, morpho, initialTimelock, asset.address, name, symbol]),
  ]);
  const address = getContractAddress({
    opcode: "CREATE2",
    from: factory,
    salt,
    bytecode,
  }).toLowerCase() as Hex;
  const creation = { initialOwner: owner, initialTimelock, asset: asset.address, name, symbol, salt };
  return { address, asset, factory, creation, spec };
}

function mapValues<K extends string, V, R>(
  record: Readonly<Record<K, V>>,
  convert: (value: V) => R,
): Record<K, R> {
  const entries = Object.entries(record) as [K, V][];
  return Object.fromEntries(entries.map(([key, value]) => [key, convert(value)])) as Record<K, R>;
}
