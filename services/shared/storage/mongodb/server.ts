import type { FormerIndexes } from "./former-indexes.ts";
import { isDirect } from "./url.ts";

/** What the server is: a part of a sharded cluster, whether it keeps past states, and whether we may only read. */
export interface Server {
  readonly sharded: boolean;
  readonly snapshots: boolean;
  readonly readOnly: boolean;
  readonly former: FormerIndexes;
}

/**
 * A URL with directConnection=true leads to one member of a replica set, which the driver reads from as a secondary
 * too. A set of one member has no other.
 */
export function requirePrimary(hello: Readonly<Record<string, unknown>>, url: string): void {
  const { hosts, isWritablePrimary, secondary } = hello;
  const isOneOfSeveral = Array.isArray(hosts) && hosts.length > 1 && isDirect(url);
  // Compatible servers may say neither.
  if (isWritablePrimary !== false && secondary !== true && !isOneOfSeveral) return;
  const members = Array.isArray(hosts) ? ` (${hosts.join(",")})` : "";
  throw new Error(
    `the option directConnection must be absent: it names one member of a replica set${members}`,
  );
}
