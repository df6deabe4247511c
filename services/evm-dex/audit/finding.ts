/** One value of a row compared with the chain. */
export interface Finding {
  readonly pool: string;
  /** Collection and field of the value. */
  readonly field: string;
  readonly block: number;
  readonly stored: string;
  /** Null where the node returns nothing: neither a difference nor a proof. */
  readonly chain: string | null;
}

/** A finding from two values of any kind, compared as text: integers must be exact. */
export function compareValues(
  at: { readonly pool: string; readonly block: number },
  options: { readonly field: string; readonly stored: unknown; readonly chain: unknown },
): Finding {
  const chain = options.chain === null || options.chain === undefined ? null : String(options.chain);
  return { pool: at.pool, block: at.block, field: options.field, stored: String(options.stored), chain };
}

export function isDifference(finding: Finding): boolean {
  return finding.chain !== null && finding.chain !== finding.stored;
}
