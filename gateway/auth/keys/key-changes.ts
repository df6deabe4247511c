import { limitFailureReports } from "../../../services/shared/cache/failure-reports.ts";
import {
  publishRedis,
  type Subscription,
  subscribeRedis,
} from "../../../services/shared/cache/redis-channel.ts";
import type { Log } from "../../../services/shared/logging/log.ts";
import type { KeyLookup } from "./key-lookup.ts";

/** Word of made and changed keys, each by its hash. It names no key and gives nobody any right. */
const CHANNEL = "chaintables:keys";
const HASH = /^[0-9a-f]{64}$/;
const PUBLISH_TIMEOUT_MS = 2_000;

export interface KeyChangeOptions {
  readonly redisUrl: string | undefined;
  readonly lookup: Pick<KeyLookup, "forget" | "forgetAll">;
  readonly log: Log;
}

/**
 * Forgets keys as soon as they are changed anywhere. Without Redis, or while it is away, what is remembered of a key
 * gets old within seconds all the same (KeyLookupOptions.freshMs): this only makes it faster.
 */
export async function subscribeKeyChanges({
  redisUrl,
  lookup,
  log,
}: KeyChangeOptions): Promise<Subscription> {
  if (redisUrl === undefined) return { close: () => {} };
  return subscribeRedis({
    url: redisUrl,
    channel: CHANNEL,
    onMessage: (hash) => (HASH.test(hash) ? lookup.forget(hash) : lookup.forgetAll()),
    onConnected: () => lookup.forgetAll(),
    onFailure: limitFailureReports(({ failures, error }) =>
      log.warn({ failures, err: error }, "changes of keys are not heard of through Redis"),
    ),
  });
}

/** Tells every gateway that keys have changed; answers whether Redis has heard it. */
export function publishKeyChanges(redisUrl: string, hashes: readonly string[]): Promise<boolean> {
  return publishRedis({ url: redisUrl, channel: CHANNEL, timeoutMs: PUBLISH_TIMEOUT_MS }, hashes);
}
