import { createRule, type LimitRule, type LimitSettings } from "../limits/rule.ts";
import type { KeyRecord } from "./key-record.ts";
import type { KeyLimitOverrides } from "./key-settings.ts";

/** The limits of a key: its own where it has some, else those of the configuration. */
export function mergeKeyLimits(own: KeyLimitOverrides, standard: LimitSettings): LimitSettings {
  const { ratePerSecond, burst, dailyQuota } = own;
  return {
    ratePerSecond: ratePerSecond ?? standard.ratePerSecond,
    burst: burst ?? standard.burst,
    dailyQuota: dailyQuota === 0 ? null : (dailyQuota ?? standard.dailyQuota),
  };
}

/** Rules of keys, each made once for as long as its record is remembered. */
export function createKeyRules(standard: LimitSettings): (record: KeyRecord) => LimitRule {
  const rules = new WeakMap<KeyRecord, LimitRule>();
  return (record) => {
    let rule = rules.get(record);
    if (rule === undefined) {
      rule = createRule(mergeKeyLimits(record.limits, standard));
      rules.set(record, rule);
    }
    return rule;
  };
}
