import { z } from "zod";
import type { Hex } from "../../../shared/evm/port.ts";

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, "is not an EVM address")
  .transform((text) => text.toLowerCase() as Hex);

/** Chainlink's USD feeds of a chain: `feed` is the proxy, whose address stays when its aggregator is replaced. */
export const priceFeeds = z.array(z.strictObject({ token: address, feed: address }));

/** The oracles of one chain whose prices are used for every protocol, in the order in which they are asked. */
export interface OracleDeployment {
  /** PoolAddressesProviders of Aave markets: the governance of each chooses its oracle. */
  readonly aave: readonly Hex[];
  readonly feeds: z.infer<typeof priceFeeds>;
}
