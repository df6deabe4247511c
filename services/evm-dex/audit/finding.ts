/** One value of a row held against the chain. */
export interface Finding {
  readonly pool: string;
  /** Where the value stands: collection and field. */
  readonly field: string;
  readonly block: number;
  readonly ours: string;
  /** Null where the node has no answer: not a difference, but not a proof either. */
  readonly chain: string | null;
}

/** A finding from two values of any kind, compared as text: integers must be exact. */
export function compare(
  at: { readonly pool: string; readonly block: number },
  of: { readonly field: string; readonly ours: unknown; readonly chain: unknown },
): Finding {
  const chain = of.chain === null || of.chain === undefined ? null : String(of.chain);
  return { pool: at.pool, block: at.block, field: of.field, ours: String(of.ours), chain };
}

export function isDifference(finding: Finding): boolean {
  return finding.chain !== null && finding.chain !== finding.ours;
}
