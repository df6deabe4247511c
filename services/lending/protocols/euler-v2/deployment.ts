import { z } from "zod";
import type { Hex } from "../../../shared/evm/port.ts";

/** Euler v2 on one chain: the section `euler-v2` of a deployments file. */
export interface EulerDeployment {
  /** Lists every EVK vault (GenericFactory). */
  readonly eVaultFactory: Hex;
  /** Factories of EulerEarn: no getter lists the vaults of all their versions, so that their events are scanned. */
  readonly eulerEarnFactories: readonly { readonly address: Hex; readonly fromBlock: number }[];
}

const address = z
  .string("is not an EVM address")
  .regex(/^0x[0-9a-fA-F]{40}$/, "is not an EVM address")
  .transform((text) => text.toLowerCase() as Hex);

const section = z.strictObject({
  eVaultFactory: address,
  eulerEarnFactories: z.array(z.strictObject({ address, fromBlock: z.int().nonnegative() })),
});

/** Throws an Error that names the field and the rule. */
export function parseEulerDeployment(value: unknown): EulerDeployment {
  const parsed = section.safeParse(value);
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  return parsed.data;
}
