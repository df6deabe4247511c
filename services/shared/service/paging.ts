import type { Endpoint, ParamsOf, TableResult } from "../contract/endpoint.ts";

/** Longer links are left out: clients read heads of 16 KiB. */
const MAX_LINK_LENGTH = 2_000;

/**
 * Headers of a paged list: X-Total-Count, the rows of all pages, where that is known; Link with the next page. Where the
 * number is not known, a full page has a next one, which may be empty. `query` as it was sent.
 */
export function pagingHeaders(
  endpoint: Endpoint,
  request: { readonly params: ParamsOf<Endpoint>; readonly query: string; readonly result: TableResult },
): [name: string, value: string][] {
  const { limit, offset } = request.params;
  if (typeof limit !== "number" || typeof offset !== "number") return [];
  const rows = request.result.rows.length;
  const total = request.result.total ?? totalOf({ rows, limit, offset });
  const headers: [string, string][] = total === undefined ? [] : [["X-Total-Count", String(total)]];
  const next = offset + limit;
  const hasNext = total === undefined ? rows === limit : next < total;
  if (!hasNext || endpoint.params.offset?.safeParse(String(next)).success !== true) return headers;
  const parameters = new URLSearchParams(request.query);
  parameters.set("offset", String(next));
  const link = `<${endpoint.path}?${parameters}>; rel="next"`;
  return link.length > MAX_LINK_LENGTH ? headers : [...headers, ["Link", link]];
}

/** A page that is not full ends the list; an empty one behind it says nothing of its length. */
function totalOf({
  rows,
  limit,
  offset,
}: {
  rows: number;
  limit: number;
  offset: number;
}): number | undefined {
  return rows < limit && (rows > 0 || offset === 0) ? offset + rows : undefined;
}
