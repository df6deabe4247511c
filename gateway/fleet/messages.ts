import type { TakeRequest } from "../auth/limits/local-buckets.ts";
import type { BucketRequest, BucketResponse, Learnt } from "../auth/limits/shared-buckets.ts";

/** What a worker tells the process that started it. */
export type ToFleet =
  /** It listens. */
  | { readonly kind: "ready" }
  | { readonly kind: "buckets"; readonly id: number; readonly questions: readonly BucketRequest[] }
  | { readonly kind: "unused"; readonly wanted: readonly TakeRequest[] }
  | { readonly kind: "learnt"; readonly of: Learnt };

/** What a worker is told. */
export interface ToWorker {
  readonly kind: "buckets";
  readonly id: number;
  readonly answers: readonly BucketResponse[];
}

/** The channel carries messages of cluster and of prom-client, too. */
export function isKind(message: unknown, kinds: readonly string[]): boolean {
  const { kind } = (message ?? {}) as { kind?: unknown };
  return typeof kind === "string" && kinds.includes(kind);
}
