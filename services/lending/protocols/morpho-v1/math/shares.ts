import { mulDivDown, mulDivUp } from "./fixed.ts";

/** Total assets and shares of one side (supply or borrow) of a market. */
export interface ShareTotals {
  readonly assets: bigint;
  readonly shares: bigint;
}

/** Added to both totals in every conversion, against share price inflation (SharesMathLib). */
const VIRTUAL_SHARES = 10n ** 6n;
const VIRTUAL_ASSETS = 1n;

export function toSharesDown(assets: bigint, pot: ShareTotals): bigint {
  return mulDivDown(assets, pot.shares + VIRTUAL_SHARES, pot.assets + VIRTUAL_ASSETS);
}

export function toAssetsDown(shares: bigint, pot: ShareTotals): bigint {
  return mulDivDown(shares, pot.assets + VIRTUAL_ASSETS, pot.shares + VIRTUAL_SHARES);
}

export function toAssetsUp(shares: bigint, pot: ShareTotals): bigint {
  return mulDivUp(shares, pot.assets + VIRTUAL_ASSETS, pot.shares + VIRTUAL_SHARES);
}
