/** Inputs of a token's score; null = unknown. */
export interface SecurityFacts {
  readonly hasMintAuthority: boolean | null;
  readonly hasFreezeAuthority: boolean | null;
  readonly mutableMetadata: boolean | null;
  readonly transferFeeBps: number | null;
  readonly nonTransferable: boolean | null;
  /** Percent. */
  readonly top10HolderConcentration: number | null;
}

/** 0 to 100 by the formula in the column's description (this service's own); null while an input is unknown. */
export function securityScore(facts: SecurityFacts): number | null {
  const { hasMintAuthority, hasFreezeAuthority, mutableMetadata, nonTransferable } = facts;
  const { transferFeeBps, top10HolderConcentration: top10 } = facts;
  if (hasMintAuthority === null || hasFreezeAuthority === null || mutableMetadata === null) return null;
  if (nonTransferable === null || transferFeeBps === null || top10 === null) return null;
  return (
    100 -
    (hasMintAuthority ? 30 : 0) -
    (hasFreezeAuthority ? 20 : 0) -
    (mutableMetadata ? 10 : 0) -
    (transferFeeBps > 0 ? 10 : 0) -
    (nonTransferable ? 10 : 0) -
    (20 * Math.min(top10, 100)) / 100
  );
}
