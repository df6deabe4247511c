/** Addresses of views: everything stands in the fragment, which browsers send to nobody. */
/** @import { Link, Params, Route } from "./types.ts" */

/**
 * "#/pool/0xab?chain_id=1" as view, rest and parameters.
 * @param {string} hash
 * @returns {Route}
 */
export function parseRoute(hash) {
  const text = hash.replace(/^#\/?/, "");
  const mark = text.indexOf("?");
  const path = mark === -1 ? text : text.slice(0, mark);
  const slash = path.indexOf("/");
  const params = Object.fromEntries(new URLSearchParams(mark === -1 ? "" : text.slice(mark + 1)));
  const view = slash === -1 ? path : path.slice(0, slash);
  return { view: view || "overview", rest: slash === -1 ? "" : decode(path.slice(slash + 1)), params };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The reverse. Empty parameters are left out.
 * @param {string} view
 * @param {string} [rest]
 * @param {Params} [params]
 */
export function routeTo(view, rest = "", params = {}) {
  const path = rest === "" ? view : `${view}/${rest.split("/").map(encodeURIComponent).join("/")}`;
  const query = queryOf(params);
  return `#/${path}${query === "" ? "" : `?${query}`}`;
}

/**
 * The page of an address.
 * @param {Pick<Link, "kind" | "address"> & { readonly within?: Params }} link
 * @param {string} [chainId]
 */
export function routeToSubject({ kind, address, within = {} }, chainId) {
  return routeTo(kind, address, { ...(chainId !== undefined && { chain_id: chainId }), ...within });
}

/** @param {Params} params */
export function queryOf(params) {
  const given = Object.entries(params).filter(([, value]) => value !== "");
  return new URLSearchParams(given).toString().replaceAll("%2C", ",");
}

/**
 * The key of a link that carries one ("#key=…"): a fragment, so that no log has it.
 * @param {string} hash
 */
export function keyOfLink(hash) {
  const found = /^#key=([^&]+)/.exec(hash)?.[1];
  return found === undefined ? undefined : decode(found);
}
