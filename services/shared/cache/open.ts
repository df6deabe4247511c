import { createMemoryCache } from "./memory.ts";
import type { Cache } from "./port.ts";

export interface OpenCacheOptions {
  /** Redis when given, this process's memory otherwise. */
  readonly redisUrl?: string;
  /** Bound of the cache in memory. */
  readonly maxBytes?: number;
  /** A Redis command that takes longer counts as a miss. */
  readonly commandTimeoutMs?: number;
  /** Called for every Redis failure; callers of the cache only see a miss. */
  readonly onFailure?: (error: Error) => void;
}

/** Opens the cache without waiting for Redis; loads the Redis client only if it is used. */
export async function openCache(options: OpenCacheOptions = {}): Promise<Cache> {
  const { redisUrl, maxBytes, commandTimeoutMs, onFailure } = options;
  if (redisUrl === undefined) return createMemoryCache(maxBytes === undefined ? {} : { maxBytes });
  const { openRedisCache } = await import("./redis.ts");
  return openRedisCache({
    url: redisUrl,
    ...(commandTimeoutMs !== undefined && { commandTimeoutMs }),
    ...(onFailure !== undefined && { onFailure }),
  });
}
