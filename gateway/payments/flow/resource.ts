import { createHash } from "node:crypto";

/** Of a target that is named as it is. */
const MAX_TARGET_LENGTH = 2_000;

/**
 * What is paid for: PUBLIC_URL with the path and query of the request; never derived from the client's Host header. A long
 * query is named by its hash. The terms of payment stand in a header, in base64, and clients read heads of 16 KiB; they come
 * back in the header of the payment, beside the query itself. No request can have this name by another query: fragments are
 * not sent.
 */
export function resourceUrlOf(
  publicUrl: string,
  { path, query }: { readonly path: string; readonly query: string },
): string {
  const target = query === "" ? path : `${path}?${query}`;
  if (target.length <= MAX_TARGET_LENGTH) return publicUrl + target;
  return `${publicUrl}${path}#query-sha256=${createHash("sha256").update(query).digest("hex")}`;
}
