import { mulDivDown, mulDivUp } from "./fixed.ts";

/** All assets of one side of a market, and all shares in them. */
export interface Pot {
  readonly assets: bigint;
  readonly shares: bigint;
}

/** What Morpho adds to both totals in every conversion, against inflated share prices (SharesMathLib). */
const VIRTUAL_SHARES = 10n ** 6n;
const VIRTUAL_ASSETS = 1n;

export function toSharesDown(assets: bigint, pot: Pot): bigint {
  return mulDivDown(assets, pot.shares + VIRTUAL_SHARES, pot.assets + VIRTUAL_ASSETS);
}

export function toAssetsDown(shares: bigint, pot: Pot): bigint {
  return mulDivDown(shares, pot.assets + VIRTUAL_ASSETS, pot.shares + VIRTUAL_SHARES);
}

export function toAssetsUp(shares: bigint, pot: Pot): bigint {
  return mulDivUp(shares, pot.assets + VIRTUAL_ASSETS, pot.shares + VIRTUAL_SHARES);
}
