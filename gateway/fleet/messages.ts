import type { BucketRequest, BucketResponse, DailyUsage } from "../auth/limits/shared-buckets.ts";

/** Messages of a worker to its parent. */
export type ToParent =
  /** It listens. */
  | { readonly kind: "ready" }
  | { readonly kind: "buckets"; readonly id: number; readonly requests: readonly BucketRequest[] }
  | { readonly kind: "usage"; readonly usage: DailyUsage };

/** Messages of the parent to a worker. */
export interface ToWorker {
  readonly kind: "buckets";
  readonly id: number;
  readonly responses: readonly BucketResponse[];
}

/** The channel carries messages of cluster and of prom-client, too. */
export function isKind(message: unknown, kinds: readonly string[]): boolean {
  const { kind } = (message ?? {}) as { kind?: unknown };
  return typeof kind === "string" && kinds.includes(kind);
}
