import { type Bucket, DAY_US } from "./bucket.ts";
import { COST, type LimitRule } from "./rule.ts";

/**
 * takeFrom of bucket.ts where the bucket stands in Redis: read, decided and written in one step for all gateways, by
 * the clock of Redis. One key a bucket, its value "level at day used", which goes when it says nothing any more.
 * A caller adds what it knows of the bucket itself: a Redis that has lost it, or was out of reach while requests passed,
 * goes on from there. That is never more than the truth, so nobody is refused for it who should pass.
 */
export const BUCKET_SCRIPT = `
local drain, capacity, quota, want = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local knownLevel, knownDay, knownUsed = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local today = math.floor(now / ${DAY_US})
local level, day, used = 0, today, 0
local kept = redis.call('GET', KEYS[1])
if kept then
  local a, b, c, d = string.match(kept, '^(%d+) (%d+) (%d+) (%d+)$')
  if a then
    level = tonumber(a)
    local at = tonumber(b)
    if now > at then level = math.max(0, level - (now - at) * drain) end
    if tonumber(c) >= today then
      day = tonumber(c)
      used = tonumber(d)
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
  redis.call('SET', KEYS[1], string.format('%.0f %.0f %.0f %.0f', level, now, day, used), 'PX', ttl + 1)
end
return {granted, level, now, day, used}
`;

/** What a gateway knows of a bucket, drained to the moment it asks. */
export type KnownBucket = Pick<Bucket, "level" | "day" | "used">;

export function scriptArguments(rule: LimitRule, want: number, known: KnownBucket | undefined): string[] {
  const { level = 0, day = 0, used = 0 } = known ?? {};
  return [rule.drain, rule.capacity, rule.dailyQuota ?? -1, want, level, day, used].map(String);
}

export interface ScriptAnswer {
  readonly granted: number;
  /** By the clock of Redis. */
  readonly bucket: Bucket;
}

/** Throws on an answer that is not the script's. */
export function readScriptAnswer(answer: unknown): ScriptAnswer {
  if (!Array.isArray(answer) || answer.length !== 5 || !answer.every(Number.isSafeInteger))
    throw new Error("The limiter's script answered with something else than five integers");
  const [granted, level, atUs, day, used] = answer as [number, number, number, number, number];
  return { granted, bucket: { level, atUs, day, used } };
}
