import { createHash } from "node:crypto";
import type { DataVersion, Endpoint } from "../contract/endpoint.ts";
import type { Format } from "../contract/format.ts";
import { VERSION } from "../process/version.ts";

/**
 * The weak entity tag of a response: same endpoint, same parsed query, same format, same data version, same software. With a version
 * the tag is known before the body; without one the body itself is hashed.
 */
export function entityTag(
  request: { readonly endpoint: Endpoint; readonly params: object; readonly format?: Format },
  state: { readonly version: DataVersion } | { readonly body: string },
): string {
  const { endpoint, format = "json" } = request;
  const hash = createHash("sha256").update(`${VERSION}\n${endpoint.path}\n`);
  if (format !== "json") hash.update(`format ${format}\n`);
  hash.update(
    JSON.stringify(request.params, (_key, value) => (typeof value === "bigint" ? `${value}` : value)),
  );
  if ("version" in state) {
    const { block, blockHash, fromBlock, time, tag } = state.version;
    hash.update(`\nversion ${block} ${blockHash ?? ""} ${fromBlock ?? ""} ${time} ${tag ?? ""}`);
  } else {
    hash.update("\nbody ").update(state.body);
  }
  return `W/"${hash.digest("base64url").slice(0, 22)}"`;
}

/** Whether an If-None-Match header lists tags, and not `*`. */
export function hasEntityTags(ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch !== undefined && ifNoneMatch.trim() !== "*";
}

/** Whether an If-None-Match header contains the tag: weak comparison of RFC 9110 §13.1.2. */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const opaque = tag.replace(/^W\//, "");
  for (const [, listed] of ifNoneMatch.matchAll(/(?:^|,)\s*(?:W\/)?("[^"]*")/g)) {
    if (listed === opaque) return true;
  }
  return false;
}
