import { getContractAddress, type Hex, pad } from "viem";
import { cloneCodeHash } from "../contracts/clone.ts";
import { type Address, toHex } from "../node/transactions.ts";
import type { DeployedToken as Token, Tokens } from "../pools.ts";
import {
  EULER_BORROWERS,
  EULER_EARN,
  EULER_SUPPLIER,
  EULER_VAULTS,
  type EulerEarnSpec,
  type EulerVaultName,
  type EulerVaultSpec,
  RATES,
} from "./market.ts";

/** The unit of account of those that count in dollars: ISO 4217's number as an address, 18 decimals. */
export const USD: Address = pad(toHex(840), { size: 20 });

export interface EulerVault {
  readonly address: Address;
  readonly asset: Token;
  /** Absent on an escrow. */
  readonly unit?: Address;
  readonly borrower?: Address;
  readonly spec: EulerVaultSpec;
}

export interface EulerEarn {
  readonly address: Address;
  readonly asset: Token;
  /** The curator, or the owner. */
  readonly curator: Address;
  readonly spec: EulerEarnSpec;
}

/** In the order of their creation. */
export const PERSPECTIVES = ["governed", "ungoverned", "escrow", "eulerEarn"] as const;
export type PerspectiveName = (typeof PERSPECTIVES)[number];

export interface EulerDeployment {
  /** Governor of all vaults, owner of the earn vaults. */
  readonly owner: Address;
  readonly supplier: Address;
  readonly connector: Address;
  readonly implementation: Address;
  readonly factory: Address;
  readonly oracle: Address;
  readonly rateModels: Readonly<Record<keyof typeof RATES, Address>>;
  readonly earnFactory: Address;
  /** Lists of vaults, by what they are for. */
  readonly perspectives: Readonly<Record<PerspectiveName, Address>>;
  readonly vaults: readonly EulerVault[];
  /** Last in the factory's list; answers nothing. Only there where faults are planted. */
  readonly brokenVault: Address;
  readonly earnVaults: readonly EulerEarn[];
  readonly tokens: Tokens;
}

/** Where everything will be: follows from the owner, whose first transactions these are. */
export function planEuler(
  tokens: Tokens,
  { owner, accounts }: { owner: Address; accounts: readonly Address[] },
): EulerDeployment {
  const created = (from: Address, nonce: number) =>
    getContractAddress({ from, nonce: BigInt(nonce) }).toLowerCase() as Hex;
  const account = (index: number) => {
    const found = accounts[index];
    if (!found) throw new Error(`euler-v2 needs ${index + 1} accounts: the node has ${accounts.length}`);
    return found;
  };
  const [connector, implementation, broken, factory, oracle] = [0, 1, 2, 3, 4].map((nonce) =>
    created(owner, nonce),
  ) as [Hex, Hex, Hex, Hex, Hex];
  const models = Object.keys(RATES) as (keyof typeof RATES)[];
  const rateModels = Object.fromEntries(models.map((name, i) => [name, created(owner, 5 + i)])) as Record<
    keyof typeof RATES,
    Address
  >;
  const earnFactory = created(owner, 5 + models.length);
  const perspectives = Object.fromEntries(
    PERSPECTIVES.map((name, i) => [name, created(owner, 6 + models.length + i)]),
  ) as Record<PerspectiveName, Address>;
  const vaultAt = (index: number, kind: Hex) =>
    getContractAddress({
      opcode: "CREATE2",
      from: factory,
      salt: pad(toHex(index)),
      bytecodeHash: cloneCodeHash(kind),
    }).toLowerCase() as Hex;
  const supplier = account(EULER_SUPPLIER);
  return {
    owner,
    supplier,
    connector,
    implementation,
    factory,
    oracle,
    rateModels,
    earnFactory,
    perspectives,
    vaults: EULER_VAULTS.map((spec, i) => ({
      address: vaultAt(i, implementation),
      asset: tokens[spec.asset],
      ...(spec.unit === undefined ? {} : { unit: spec.unit === "USD" ? USD : tokens[spec.unit].address }),
      ...(spec.loan === undefined
        ? {}
        : { borrower: account(EULER_BORROWERS[spec.loan.borrower] as number) }),
      spec,
    })),
    brokenVault: vaultAt(EULER_VAULTS.length, broken),
    earnVaults: EULER_EARN.map((spec, i) => ({
      // A contract's own nonces begin with 1.
      address: created(earnFactory, 1 + i),
      asset: tokens[spec.asset],
      curator: spec.curated ? supplier : owner,
      spec,
    })),
    tokens,
  };
}

export function vaultNamed(vaults: readonly EulerVault[], name: EulerVaultName): EulerVault {
  const found = vaults.find(({ spec }) => spec.name === name);
  if (!found) throw new Error(`No vault is called ${name}`);
  return found;
}

/** Dollars of a token at its starting price, raw. */
export function rawUsd({ usd, decimals }: Token, dollars: number): bigint {
  return BigInt(Math.round((dollars / usd) * 1e4)) * 10n ** BigInt(decimals - 4);
}
