import { type Bucket, DAY_US } from "./bucket.ts";
import { COST, type LimitRule } from "./rule.ts";
import type { BucketResponse } from "./shared-buckets.ts";

const REQUEST_FIELDS = 7;
const RESPONSE_FIELDS = 5;

/**
 * takeFrom of bucket.ts where the buckets stand in Redis: read, decided and written in one step for all gateways, by the
 * clock of Redis. One key a bucket, its value "level at day used", which goes when it says nothing any more; as many
 * buckets a call as there are keys, one after the other.
 * A caller adds what it knows of a bucket itself: a Redis that has lost it, or was out of reach while requests passed,
 * goes on from there. That is never more than the truth, so nobody is refused for it who should pass.
 */
export const BUCKET_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local today = math.floor(now / ${DAY_US})
local answer = {}
for i, key in ipairs(KEYS) do
  local a = (i - 1) * ${REQUEST_FIELDS}
  local drain, capacity = tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local quota, want = tonumber(ARGV[a + 3]), tonumber(ARGV[a + 4])
  local knownLevel, knownDay, knownUsed = tonumber(ARGV[a + 5]), tonumber(ARGV[a + 6]), tonumber(ARGV[a + 7])
  local level, day, used = 0, today, 0
  local kept = redis.call('GET', key)
  if kept then
    local l, t, d, u = string.match(kept, '^(%d+) (%d+) (%d+) (%d+)$')
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
  local granted = math.min(want, math.floor((capacity - level) / ${COST}))
  if quota >= 0 then granted = math.min(granted, quota - used) end
  if granted < 0 then granted = 0 end
  level = level + granted * ${COST}
  if quota >= 0 then used = used + granted end
  if want > 0 then
    local ttl = math.ceil(level / drain / 1000)
    if used > 0 then ttl = math.max(ttl, math.ceil(((day + 1) * ${DAY_US} - now) / 1000)) end
    redis.call('SET', key, string.format('%.0f %.0f %.0f %.0f', level, now, day, used), 'PX', ttl + 1)
  end
  local b = (i - 1) * ${RESPONSE_FIELDS}
  answer[b + 1], answer[b + 2], answer[b + 3], answer[b + 4], answer[b + 5] = granted, level, now, day, used
end
return answer
`;

/** What a gateway knows of a bucket, drained to the moment it asks. */
export type KnownBucket = Pick<Bucket, "level" | "day" | "used">;

/** One bucket's part of ARGV. */
export function scriptArguments(rule: LimitRule, want: number, known: KnownBucket | undefined): string[] {
  const { level = 0, day = 0, used = 0 } = known ?? {};
  return [rule.drain, rule.capacity, rule.dailyQuota ?? -1, want, level, day, used].map(String);
}

/** The answers for so many buckets; throws on what is not the script's answer. */
export function parseScriptResponse(answer: unknown, buckets: number): BucketResponse[] {
  if (
    !Array.isArray(answer) ||
    answer.length !== buckets * RESPONSE_FIELDS ||
    !answer.every(Number.isSafeInteger)
  )
    throw new Error("The limiter's script answered with something else than five integers a bucket");
  return Array.from({ length: buckets }, (_, place) => {
    const from = place * RESPONSE_FIELDS;
    const fields = answer.slice(from, from + RESPONSE_FIELDS);
    const [granted, level, atUs, day, used] = fields as [number, number, number, number, number];
    return { granted, bucket: { level, atUs, day, used } };
  });
}
