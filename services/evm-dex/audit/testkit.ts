import { type AuditOptions, audit } from "./audit.ts";
import type { Finding } from "./finding.ts";

/** A whole audit. */
export async function auditOnce(options: AuditOptions) {
  const differences: Finding[] = [];
  const fields = new Set<string>();
  const pools: string[] = [];
  let unavailable = 0;
  let note: string | undefined;
  for await (const { note: said, pool, tally } of audit(options)) {
    differences.push(...tally.differences);
    for (const field of tally.fields.keys()) fields.add(field);
    if (pool !== "") pools.push(pool);
    unavailable += tally.unavailable;
    note ??= said;
  }
  return { differences, fields, note, pools, unavailable };
}
