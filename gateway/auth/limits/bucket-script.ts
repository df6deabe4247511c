import { type Bucket, DAY_US } from "./bucket.ts";
import { COST, type LimitRule } from "./rule.ts";
import type { BucketResponse } from "./shared-buckets.ts";

const REQUEST_FIELDS = 7;
const RESPONSE_FIELDS = 5;

/**
 * takeFromBucket of bucket.ts for buckets in Redis: reads, decides and writes in one atomic step for all gateways, by
 * the clock of Redis. Each bucket is one key with the value "level at day used", which expires once the bucket is empty
 * and its day over. A call handles as many buckets as it has keys, one after the other.
 * The caller passes what it knows of a bucket: a Redis that lost it, or was unreachable while requests passed, continues
 * from there. That is never more than the true level, so it refuses no request that should pass.
 */
export const BUCKET_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local today = math.floor(now / ${DAY_US})
local response = {}
for i, key in ipairs(KEYS) do
  local a = (i - 1) * ${REQUEST_FIELDS}
  local drain, capacity = tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local quota, count = tonumber(ARGV[a + 3]), tonumber(ARGV[a + 4])
  local knownLevel, knownDay, knownUsed = tonumber(ARGV[a + 5]), tonumber(ARGV[a + 6]), tonumber(ARGV[a + 7])
  local level, day, used = 0, today, 0
  local stored = redis.call('GET', key)
  if stored then
    local l, t, d, u = string.match(stored, '^(%d+) (%d+) (%d+) (%d+)$')
    if l then
      level = tonumber(l)
      local at = tonumber(t)
      if now > at then level = math.max(0, level - (now - at) * drain) end
      if tonumber(d) >= today then
        day = tonumber(d)
        used = tonumber(u)
      end
    end
  end
  level = math.max(level, knownLevel)
  if knownDay == day then used = math.max(used, knownUsed) end
  local granted = math.min(count, math.floor((capacity - level) / ${COST}))
  if quota >= 0 then granted = math.min(granted, quota - used) end
  if granted < 0 then granted = 0 end
  level = level + granted * ${COST}
  if quota >= 0 then used = used + granted end
  if count > 0 then
    local ttl = math.ceil(level / drain / 1000)
    if used > 0 then ttl = math.max(ttl, math.ceil(((day + 1) * ${DAY_US} - now) / 1000)) end
    redis.call('SET', key, string.format('%.0f %.0f %.0f %.0f', level, now, day, used), 'PX', ttl + 1)
  end
  local b = (i - 1) * ${RESPONSE_FIELDS}
  response[b + 1], response[b + 2], response[b + 3], response[b + 4], response[b + 5] = granted, level, now, day, used
end
return response
`;

/** What a gateway knows of a bucket, drained to the time of its request. */
export type KnownBucket = Pick<Bucket, "level" | "day" | "used">;

/** One bucket's part of ARGV. */
export function scriptArguments(rule: LimitRule, count: number, known: KnownBucket | undefined): string[] {
  const { level = 0, day = 0, used = 0 } = known ?? {};
  return [rule.drain, rule.capacity, rule.dailyQuota ?? -1, count, level, day, used].map(String);
}

/** The responses for `buckets` buckets; throws if the value is not a response of the script. */
export function parseScriptResponse(value: unknown, buckets: number): BucketResponse[] {
  if (
    !Array.isArray(value) ||
    value.length !== buckets * RESPONSE_FIELDS ||
    !value.every(Number.isSafeInteger)
  )
    throw new Error("The limiter's script did not return five integers per bucket");
  return Array.from({ length: buckets }, (_, index) => {
    const from = index * RESPONSE_FIELDS;
    const fields = value.slice(from, from + RESPONSE_FIELDS);
    const [granted, level, atUs, day, used] = fields as [number, number, number, number, number];
    return { granted, bucket: { level, atUs, day, used } };
  });
}
