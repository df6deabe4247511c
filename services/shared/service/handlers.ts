import type { Endpoint, Handler, ParamsOf } from "../contract/endpoint.ts";
import { ServiceError } from "../errors.ts";

/** A handler whose parameter types were checked against its endpoint when it was put into a table. */
export type AnyHandler = Handler<Endpoint>;
/** Handlers by path. An endpoint without one answers as if nothing had been ingested. */
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
 * The answer for an address without data, by the endpoint's `whenAbsent`: no rows, or a thrown not_found that names
 * what was asked for. Handlers of single-item endpoints throw the same by `throw absent(endpoint, params)`.
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
