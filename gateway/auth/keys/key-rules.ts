import type { LimitSettings } from "../../config.ts";
import { createRule, type LimitRule } from "../limits/rule.ts";
import type { KeyRecord } from "./key-record.ts";
import type { KeyLimitOverrides } from "./key-settings.ts";

/** Returns the limits of a key: its overrides, else the configured ones. */
export function mergeKeyLimits(own: KeyLimitOverrides, standard: LimitSettings): LimitSettings {
  const { ratePerSecond, burst, dailyQuota } = own;
  return {
    ratePerSecond: ratePerSecond ?? standard.ratePerSecond,
    burst: burst ?? standard.burst,
    dailyQuota: dailyQuota === 0 ? null : (dailyQuota ?? standard.dailyQuota),
  };
}

/** Creates the rule of each key once per cached record. */
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
