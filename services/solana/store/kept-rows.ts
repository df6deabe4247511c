import { type Environment, readSettings } from "../../shared/settings/settings.ts";
import { EXCHANGES, type PoolTransactionRow, type TokenTransactionRow } from "./collections.ts";

/** Which rows of lists an installation keeps; what is undefined does not restrict. Candles and prices know all trades. */
export interface KeptRows {
  /** Numbers in EXCHANGES. */
  readonly exchanges?: ReadonlySet<number> | undefined;
  /** Their lists, and the rows of pools that trade them. */
  readonly tokens?: ReadonlySet<string> | undefined;
  readonly pools?: ReadonlySet<string> | undefined;
}

/** Throws ConfigError. */
export function readKeptRows(env: Environment): KeptRows {
  const { SOLANA_EXCHANGES, SOLANA_TOKENS, SOLANA_POOLS } = readSettings(env, [
    "SOLANA_EXCHANGES",
    "SOLANA_TOKENS",
    "SOLANA_POOLS",
  ]);
  return {
    exchanges: SOLANA_EXCHANGES && new Set(SOLANA_EXCHANGES.map((name) => EXCHANGES.indexOf(name))),
    tokens: SOLANA_TOKENS && new Set(SOLANA_TOKENS),
    pools: SOLANA_POOLS && new Set(SOLANA_POOLS),
  };
}

/** Whether a token's own list is kept. Pools alone keep none: a list of some of a token's pools would look whole. */
export function keepsTokenList({ tokens, pools }: KeptRows, mint: string): boolean {
  return tokens === undefined ? pools === undefined : tokens.has(mint);
}

/** Whether a pool's list is kept; undefined for one that is where it trades a kept token, which its rows show. */
export function keepsPoolList({ tokens, pools }: KeptRows, pool: string): boolean | undefined {
  if ((tokens === undefined && pools === undefined) || pools?.has(pool) === true) return true;
  return tokens === undefined ? false : undefined;
}

export function keepsTokenRow(
  kept: KeptRows,
  { mint, dex }: Pick<TokenTransactionRow, "mint" | "dex">,
): boolean {
  return (kept.exchanges?.has(dex) ?? true) && keepsTokenList(kept, mint);
}

export function keepsPoolRow(
  { exchanges, tokens, pools }: KeptRows,
  { pool, dex, tokenIn, tokenOut }: Pick<PoolTransactionRow, "pool" | "dex" | "tokenIn" | "tokenOut">,
): boolean {
  if (exchanges?.has(dex) === false) return false;
  if (tokens === undefined && pools === undefined) return true;
  return pools?.has(pool) === true || tokens?.has(tokenIn) === true || tokens?.has(tokenOut) === true;
}
