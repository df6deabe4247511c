import { z } from "zod";
import type { Hex } from "../../../shared/evm/port.ts";

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "is not an EVM address")
  .transform((text) => text.toLowerCase() as Hex);
const block = z.int().nonnegative();

const section = z.strictObject({
  /** Morpho Blue: one contract holds all markets. */
  morpho: address,
  fromBlock: block,
  /** Interest rate models of the type AdaptiveCurveIrm: their rate at any time follows from rateAtTarget. */
  adaptiveCurveIrms: z.array(address),
  /** MetaMorpho factories of either version: only vaults of v1.1 have lostAssets(). */
  vaultFactories: z.array(z.strictObject({ address, fromBlock: block })),
  /** The vaults that Morpho lists: no contract says so. Without it, none is listed. */
  listing: z
    .strictObject({ source: z.string().min(1), date: z.iso.date(), vaults: z.array(address) })
    .optional(),
});

export type MorphoDeployment = z.infer<typeof section>;

/** Throws an Error that names the field and the rule. */
export function parseDeployment(value: unknown): MorphoDeployment {
  const parsed = section.safeParse(value);
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  const { vaultFactories } = parsed.data;
  const addresses = vaultFactories.map((factory) => factory.address);
  const duplicate = addresses.find((each, i) => addresses.indexOf(each) !== i);
  if (duplicate !== undefined) throw new Error(`vaultFactories names ${duplicate} twice`);
  return parsed.data;
}
