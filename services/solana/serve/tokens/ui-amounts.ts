import type { Store } from "../../../shared/storage/port.ts";
import { findUiMultiplier, type MintExtensions } from "../../metrics/mint-extensions.ts";
import { type TokenRow, tokens } from "../../store/token-collections.ts";

/**
 * What a token's amounts in whole tokens are multiplied by, and its prices divided by, at the head's time. Rows and
 * candles are stored unscaled, so that what an issuer changes later (a split, a dividend) reaches all of them alike.
 */
export function findTokenMultiplier({ extensions }: Pick<TokenRow, "extensions">, time: number): number {
  return extensions === null ? 1 : findUiMultiplier(extensions as MintExtensions, time);
}

/** The same by mint; 1 of a token that is not known. */
export async function readMultiplier(
  store: Store,
  { mint, time }: { mint: string; time: number },
): Promise<number> {
  const [token] = await store.find(tokens, { filter: { mint }, limit: 1, fields: ["extensions"] });
  return token === undefined ? 1 : findTokenMultiplier(token, time);
}
