import type { BucketAnswer, BucketQuestion, Learnt } from "../auth/limits/bucket-keeper.ts";
import type { Wanted } from "../auth/limits/local-buckets.ts";

/** What a worker tells the process that started it. */
export type ToFleet =
  /** It listens. */
  | { readonly kind: "ready" }
  | { readonly kind: "buckets"; readonly id: number; readonly questions: readonly BucketQuestion[] }
  | { readonly kind: "unused"; readonly wanted: readonly Wanted[] }
  | { readonly kind: "learnt"; readonly of: Learnt };

/** What a worker is told. */
export interface ToWorker {
  readonly kind: "buckets";
  readonly id: number;
  readonly answers: readonly BucketAnswer[];
}

/** The channel carries messages of cluster and of prom-client, too. */
export function isKind(message: unknown, kinds: readonly string[]): boolean {
  const { kind } = (message ?? {}) as { kind?: unknown };
  return typeof kind === "string" && kinds.includes(kind);
}
