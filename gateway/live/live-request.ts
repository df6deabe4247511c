import type { Request } from "express";
import { type AsOf, isAsOf, sentAsOf } from "../../services/shared/contract/as-of.ts";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import { EVENT_STREAM, FORMAT_PARAM } from "../../services/shared/contract/format.ts";
import { parseQuery } from "../../services/shared/contract/parse.ts";
import { ServiceError } from "../../services/shared/errors.ts";
import { SOLANA_CHAIN_ID } from "../../services/shared/grpc/types.ts";
import type { TableQuery } from "./table-source.ts";

/**
 * Whether a request asks for a stream of events. One that names it wants it, whatever else it accepts: browsers send it
 * alone, and nothing else that they accept can be followed.
 */
export function wantsEvents({ headers }: Pick<Request, "headers">): boolean {
  const { accept } = headers;
  // All but a few clients send something else.
  if (accept === undefined || !accept.includes("event-stream")) return false;
  return accept.split(",").some((item) => {
    const [range, ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    return range === EVENT_STREAM && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/** The table that a request wants to follow. Throws `bad_request` where it cannot be followed. */
export function readLiveRequest(
  endpoint: Endpoint,
  query: string,
): { readonly table: TableQuery; readonly ignored: readonly string[] } {
  const { live, path } = endpoint;
  if (live === undefined) {
    throw new ServiceError(
      "bad_request",
      `${path} has no live form: ask for it without Accept: ${EVENT_STREAM}. GET /docs says which endpoints have one.`,
    );
  }
  const { params, format, ignored } = parseQuery(endpoint, query);
  if (format !== undefined) {
    throw new ServiceError(
      "bad_request",
      `Leave out ${FORMAT_PARAM}, or Accept: ${EVENT_STREAM}: events have one form, rows as arrays in the order of the columns.`,
    );
  }
  if (isAsOf(params as AsOf)) {
    throw new ServiceError(
      "bad_request",
      `Leave out ${sentAsOf(params as AsOf).name}, or Accept: ${EVENT_STREAM}: a stream follows the head.`,
    );
  }
  const { chain_id, offset } = params as { readonly chain_id?: number; readonly offset?: number };
  if (live.kind === "appends" && offset !== undefined && offset > 0) {
    throw new ServiceError("bad_request", "offset must be 0 where new rows are followed: they come first.");
  }
  return { table: { endpoint, query, chain: chain_id ?? SOLANA_CHAIN_ID }, ignored };
}
