// biome-ignore-all lint/performance/noBarrelFile: what a package gives is listed in one place.
export {
  type CallOptions,
  Client,
  type ClientOptions,
  type LivePath,
  type PagedPath,
  type ParamsOf,
  type Path,
  type RowOf,
} from "./client.ts";
export type * from "./endpoints.ts";
export { LIVE_KEYS } from "./endpoints.ts";
export { ApiError, type ErrorAnswer, ParameterError, SpendLimitError, UnreachableError } from "./errors.ts";
export type { BlockRef, LiveChange, LiveEvent } from "./live.ts";
export { type PaymentOffer, type PaymentOptions, type PaymentRequirements, USDC_ON_BASE } from "./payment.ts";
export type { RetryOptions } from "./retry.ts";
export type { Table } from "./table.ts";
