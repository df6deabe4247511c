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
        /** The PoolAddressesProvider: its address stays when the contracts it names are replaced. */
        provider: address,
      }),
    )
    .min(1),
});

/** Parses the markets of one chain. Throws an Error that names the field. */
export function parseAaveDeployment(value: unknown): AaveDeployment {
  const parsed = section.safeParse(value);
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  const { markets } = parsed.data;
  const duplicate = markets.find(({ provider }, i) => markets.findIndex((m) => m.provider === provider) < i);
  if (duplicate) throw new Error(`markets: provider ${duplicate.provider} is listed twice`);
  return { markets };
}
