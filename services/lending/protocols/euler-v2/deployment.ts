import { z } from "zod";
import type { Hex } from "../../../shared/evm/port.ts";

/** Euler v2 on one chain: the section `euler-v2` of a deployments file. */
export interface EulerDeployment {
  /** Lists every EVK vault (GenericFactory). */
  readonly eVaultFactory: Hex;
  /** Factories of EulerEarn: no getter lists the vaults of all their versions, so that their events are scanned. */
  readonly eulerEarnFactories: readonly { readonly address: Hex; readonly fromBlock: number }[];
  /** Factories of EulerEarn as it was before August 2025, whose vaults have another interface. */
  readonly aggregationFactories?:
    | readonly { readonly address: Hex; readonly fromBlock: number }[]
    | undefined;
  /** Euler's own lists of vaults; without them no vault is listed. */
  readonly perspectives?: EulerPerspectives | undefined;
}

/** Contracts that each list verified vaults (isVerified, verifiedArray). */
export interface EulerPerspectives {
  /** Where the addresses come from, and when they were taken from there. */
  readonly source: string;
  readonly date: string;
  /** EVK vaults with a governor that Euler has admitted. */
  readonly governed: Hex;
  /** EVK vaults without a governor, whose oracles, rate models and collaterals are of Euler's registries. */
  readonly ungoverned: readonly Hex[];
  /** EVK vaults that only keep collateral: anybody may add one of any token. */
  readonly escrow: Hex;
  /** EulerEarn vaults that Euler has admitted. */
  readonly eulerEarn: Hex;
}

const address = z
  .string("is not an EVM address")
  .regex(/^0x[0-9a-fA-F]{40}$/, "is not an EVM address")
  .transform((text) => text.toLowerCase() as Hex);

const factories = z.array(z.strictObject({ address, fromBlock: z.int().nonnegative() }));

const section = z.strictObject({
  eVaultFactory: address,
  eulerEarnFactories: factories,
  aggregationFactories: factories.optional(),
  perspectives: z
    .strictObject({
      source: z.string().min(1),
      date: z.iso.date(),
      governed: address,
      ungoverned: z.array(address),
      escrow: address,
      eulerEarn: address,
    })
    .optional(),
});

/** Throws an Error that names the field and the rule. */
export function parseEulerDeployment(value: unknown): EulerDeployment {
  const parsed = section.safeParse(value);
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  return parsed.data;
}
