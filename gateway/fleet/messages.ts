import type { BucketRequest, BucketResponse, DailyUsage } from "../auth/limits/shared-buckets.ts";

/** What a worker tells the process that started it. */
export type ToFleet =
  /** It listens. */
  | { readonly kind: "ready" }
  | { readonly kind: "buckets"; readonly id: number; readonly requests: readonly BucketRequest[] }
  | { readonly kind: "usage"; readonly usage: DailyUsage };

/** What a worker is told. */
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
