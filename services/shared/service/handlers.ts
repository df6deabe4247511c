import type { Endpoint, Handler, ParamsOf } from "../contract/endpoint.ts";
import { ServiceError } from "../errors.ts";

/** A handler whose parameter types `handle` checked against its endpoint. */
export type AnyHandler = Handler<Endpoint>;
/** Handlers by path. An endpoint without one behaves as if nothing was indexed. */
export type HandlerTable = Readonly<Record<string, AnyHandler>>;

/** One entry of a handler table: `Object.fromEntries([handle(pools, answerPools), …])`. */
export function handle<E extends Endpoint>(
  endpoint: E,
  handler: Handler<E>,
): [path: string, handler: AnyHandler] {
  // Safe: the app only ever calls it with the parameters that parseQuery made for this same endpoint.
  return [endpoint.path, handler as unknown as AnyHandler];
}

/**
 * The not_found error for an address without data, which names the address. Handlers of single-item endpoints throw it: `throw absent(endpoint, params)`.
 */
export function notFoundError(endpoint: Endpoint, params: ParamsOf<Endpoint>): ServiceError {
  const address = Object.entries(params).find(
    ([name, value]) => name.endsWith("_address") && typeof value === "string",
  );
  if (address === undefined) return new ServiceError("not_found", `Nothing is known for ${endpoint.path}.`);
  const [name, value] = address;
  const item = name.slice(0, -"_address".length).replaceAll("_", " ");
  const chain = params.chain_id;
  return new ServiceError(
    "not_found",
    `No ${item} ${value} is known${chain === undefined ? "" : ` on chain ${chain}`}.`,
  );
}
