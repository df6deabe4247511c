import { limitFailureReports } from "../../../services/shared/cache/failure-reports.ts";
import type { Log } from "../../../services/shared/logging/log.ts";
import type { Metrics } from "../../../services/shared/metrics/metrics.ts";
import type { GatewayConfig } from "../../config.ts";
import type { Clock } from "../../request/clock.ts";
import { type AddressLimits, createAddressLimits } from "../limits/address-limits.ts";
import type { BucketKeeper } from "../limits/bucket-keeper.ts";
import { createAddressOf } from "../limits/client-address.ts";
import { type AdmitKey, createKeyLimits } from "../limits/key-limits.ts";
import { createKeyRules } from "../limits/key-rules.ts";
import type { Limiter } from "../limits/limiter.ts";
import { createLookupLine } from "../limits/lookup-line.ts";
import { openLimiter } from "../limits/open-limiter.ts";
import { createRule, type LimitSettings, MAX_BURST, MAX_RATE } from "../limits/rule.ts";
import { rememberQuotas } from "../usage/quota-memory.ts";
import { createUsageCounter, type UsageCounter } from "../usage/usage-counter.ts";
import type { UsageStore } from "../usage/usage-store.ts";
import { hearKeyChanges } from "./key-changes.ts";
import { createKeyCheck, type KeyCheck } from "./key-check.ts";
import { createKeyLookup } from "./key-lookup.ts";
import { createLazyKeyDirectory, type OpenedKeys } from "./lazy-directory.ts";

export interface AccessParts {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Opens the store of keys and usage. */
  readonly openKeys: () => Promise<OpenedKeys>;
  /** Keeps limits where no Redis does; absent = this process does. */
  readonly keeper?: BucketKeeper | undefined;
}

/** Who may ask, and how often. */
export interface Access {
  readonly checkKey: KeyCheck;
  readonly admitKey: AdmitKey;
  readonly addressLimits: AddressLimits;
  readonly limiter: Limiter;
  readonly usage: UsageCounter;
  readonly usageStore: () => Promise<UsageStore>;
  /** Tries the store; that it is away is logged, and it is found when it comes. */
  open(): Promise<void>;
  /** Writes what has been counted, for at most some seconds, and closes everything. */
  close(): Promise<void>;
}

const LAST_FLUSH_MS = 5_000;
/**
 * Preflights for one page's answer that an address may have. A browser sends one before each request with a key for a URL
 * that is new to it, and without the key: too few would stop valid keys there. They are the cheapest answer there is.
 */
const PREFLIGHTS = 10;

/** Everything between a request's head and the service it asks. Redis and store may be away. */
export async function openAccess(config: GatewayConfig, parts: AccessParts): Promise<Access> {
  const { log, metrics, clock } = parts;
  const { limits, redisUrl } = config;
  const warnOfStore = (err: unknown) => log.warn({ err }, "the key store cannot be reached");
  const warnOfUsage = limitFailureReports(({ failures, error }) =>
    log.warn({ failures, err: error }, "usage cannot be read or written for now; it is kept"),
  );
  const onUsageFailure = (error: unknown) => warnOfUsage(error as Error);

  const { limiter, close: closeLimiter } = await openLimiter({
    ...{ redisUrl, clock, log, metrics },
    keeper: parts.keeper,
  });
  const store = createLazyKeyDirectory(parts.openKeys);
  const ruleOf = createKeyRules(limits.key);
  const directory = rememberQuotas({
    directory: store,
    usage: store.usage,
    limiter,
    clock,
    hasQuota: (record) => ruleOf(record).dailyQuota !== null,
    onFailure: onUsageFailure,
  });
  const lookup = createKeyLookup({ directory, clock, onStoreFailure: warnOfStore });
  const changes = await hearKeyChanges({ redisUrl, lookup, log });
  const usage = createUsageCounter({ store: store.usage, clock, onFailure: onUsageFailure });
  usage.start();

  return {
    checkKey: createKeyCheck({ lookup, clock, bootstrapKey: config.bootstrapKey, ruleOf }),
    admitKey: createKeyLimits({ limiter, usage }),
    addressLimits: createAddressLimits({
      limiter,
      addressOf: createAddressOf(config.trustedProxies),
      rules: {
        refusal: createRule(limits.address, "refused"),
        unpaid: createRule(limits.address, "unpaid"),
        verification: createRule(limits.verification, "verify"),
        lookup: createRule(limits.address, "lookup"),
        page: createRule(limits.address, "pages"),
        preflight: createRule(timesOf(limits.address, PREFLIGHTS), "preflight"),
      },
      line: createLookupLine(),
    }),
    limiter,
    usage,
    usageStore: store.usage,
    open: () => store.open().catch(warnOfStore),
    async close() {
      changes.close();
      closeLimiter();
      await within(LAST_FLUSH_MS, usage.stop()).catch((err) =>
        log.error({ err }, "the last seconds of usage could not be written"),
      );
      await within(LAST_FLUSH_MS, store.close()).catch(warnOfStore);
    },
  };
}

function timesOf({ ratePerSecond, burst, dailyQuota }: LimitSettings, factor: number): LimitSettings {
  return {
    ratePerSecond: Math.min(MAX_RATE, ratePerSecond * factor),
    burst: Math.min(MAX_BURST, burst * factor),
    dailyQuota,
  };
}

function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Not done within ${timeoutMs} ms`)), timeoutMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
