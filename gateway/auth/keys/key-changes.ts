import { limitFailureReports } from "../../../services/shared/cache/failure-reports.ts";
import {
  publishRedis,
  type Subscription,
  subscribeRedis,
} from "../../../services/shared/cache/redis-channel.ts";
import type { Log } from "../../../services/shared/logging/log.ts";
import type { KeyLookup } from "./key-lookup.ts";

/** Messages are hashes of created or changed keys. They contain no key and grant no access. */
const CHANNEL = "chaintables:keys";
const HASH = /^[0-9a-f]{64}$/;
const PUBLISH_TIMEOUT_MS = 2_000;

interface KeyChangeOptions {
  readonly redisUrl: string | undefined;
  readonly lookup: Pick<KeyLookup, "forget" | "forgetAll">;
  readonly log: Log;
}

/**
 * Removes keys from the cache as soon as any process changes them. Without Redis, cached keys still expire within seconds
 * (KeyLookupOptions.freshMs): this only makes it faster.
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
      log.warn({ failures, err: error }, "Redis does not deliver changes of keys"),
    ),
  });
}

/** Publishes changed keys to every gateway; returns whether Redis accepted the message. */
export function publishKeyChanges(redisUrl: string, hashes: readonly string[]): Promise<boolean> {
  return publishRedis({ url: redisUrl, channel: CHANNEL, timeoutMs: PUBLISH_TIMEOUT_MS }, hashes);
}
