import type { MintExtensions } from "./mint-extensions.ts";

/** Inputs of a token's score; null = unknown. */
export interface SecurityFacts {
  readonly hasMintAuthority: boolean | null;
  readonly hasFreezeAuthority: boolean | null;
  readonly mutableMetadata: boolean | null;
  /** In force. */
  readonly transferFeeBps: number | null;
  readonly extensions: MintExtensions | null;
  /** Percent. */
  readonly top10HolderConcentration: number | null;
}

/** 0 to 100 by the formula in the column's description (this service's own); null while an input is unknown. */
export function securityScore(facts: SecurityFacts): number | null {
  const { hasMintAuthority, hasFreezeAuthority, mutableMetadata, transferFeeBps, extensions } = facts;
  const { top10HolderConcentration: top10 } = facts;
  if (hasMintAuthority === null || hasFreezeAuthority === null || mutableMetadata === null) return null;
  if (extensions === null || transferFeeBps === null || top10 === null) return null;
  const score =
    100 -
    (hasMintAuthority ? 30 : 0) -
    (hasFreezeAuthority ? 20 : 0) -
    (mutableMetadata ? 10 : 0) -
    (transferFeeBps > 0 ? 10 : 0) -
    weighExtensions(extensions) -
    (20 * Math.min(top10, 100)) / 100;
  return Math.max(0, score);
}

function weighExtensions(extensions: MintExtensions): number {
  const { permanentDelegate, transferHook, isFrozenByDefault, pausable, closeAuthority } = extensions;
  const { nonTransferable, scaledAmount, interest, confidentialTransfers } = extensions;
  let weight = 0;
  if (permanentDelegate !== undefined) weight += 40;
  if (transferHook !== undefined) weight += transferHook.program === null ? 10 : 20;
  if (isFrozenByDefault) weight += 20;
  if (pausable !== undefined) weight += pausable.isPaused ? 40 : 20;
  if (closeAuthority !== undefined) weight += 5;
  if (nonTransferable) weight += 10;
  if (scaledAmount !== undefined || interest !== undefined) weight += 5;
  if (confidentialTransfers) weight += 5;
  return weight;
}
