import { z } from "zod";
import type { AaveDeployment } from "./state.ts";

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "is not an EVM address")
  .transform((text) => text.toLowerCase() as `0x${string}`);

const section = z.strictObject({
  markets: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        /** The PoolAddressesProvider, which outlives everything that it names. */
        provider: address,
      }),
    )
    .min(1),
});

/** The markets of one chain. Throws an Error that names the field. */
export function parseAaveDeployment(value: unknown): AaveDeployment {
  const parsed = section.safeParse(value);
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  const { markets } = parsed.data;
  const twice = markets.find(({ provider }, i) => markets.findIndex((m) => m.provider === provider) < i);
  if (twice) throw new Error(`markets: provider ${twice.provider} is there twice`);
  return { markets };
}
