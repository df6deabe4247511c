import { limitFailureReports } from "../../services/shared/cache/failure-reports.ts";
import type { Log } from "../../services/shared/logging/log.ts";
import type { Metrics } from "../../services/shared/metrics/metrics.ts";
import type { GatewayConfig, LimitSettings } from "../config.ts";
import type { Clock } from "../request/clock.ts";
import { type AdmitKey, createKeyLimits } from "./key-limits.ts";
import { createKeyAuthenticator, type KeyAuthenticator } from "./keys/key-authenticator.ts";
import { subscribeKeyChanges } from "./keys/key-changes.ts";
import { createKeyLookup } from "./keys/key-lookup.ts";
import { createKeyRules } from "./keys/key-rules.ts";
import { type AuthStores, createLazyKeyDirectory } from "./lazy-directory.ts";
import { type AddressLimits, createAddressLimits } from "./limits/address-limits.ts";
import { createClientAddressReader } from "./limits/client-address.ts";
import type { Limiter } from "./limits/limiter.ts";
import { createLookupQueue } from "./limits/lookup-queue.ts";
import { openLimiter } from "./limits/open-limiter.ts";
import { createRule, MAX_BURST, MAX_RATE } from "./limits/rule.ts";
import type { SharedBuckets } from "./limits/shared-buckets.ts";
import { restoreQuotas } from "./restore-quotas.ts";
import { createUsageCounter, type UsageCounter } from "./usage/usage-counter.ts";
import type { UsageStore } from "./usage/usage-store.ts";

interface AuthParts {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Opens the store of keys and usage. */
  readonly openKeys: () => Promise<AuthStores>;
  /** Limits shared among workers, used without Redis; absent = this process decides alone. */
  readonly sharedBuckets?: SharedBuckets | undefined;
  /** How long limits wait for Redis before this gateway decides alone; absent = 250 ms a command, 1 s at the start. */
  readonly redisTimeoutMs?: number | undefined;
}

/** Authentication, limits and usage of requests. */
export interface Auth {
  readonly authenticateKey: KeyAuthenticator;
  readonly admitKey: AdmitKey;
  readonly addressLimits: AddressLimits;
  readonly limiter: Limiter;
  readonly usage: UsageCounter;
  readonly usageStore: () => Promise<UsageStore>;
  /** Tries to open the store; logs a failure, and later look-ups retry. */
  open(): Promise<void>;
  /** Writes counted usage, for at most some seconds, and closes everything. */
  close(): Promise<void>;
}

const LAST_FLUSH_MS = 5_000;
/**
 * OPTIONS requests per page that an address may send. A browser sends one, without the key, before each request with a key
 * to a new URL: a low limit would block valid keys. No response is cheaper.
 */
const PREFLIGHT_FACTOR = 10;

/** Opens key authentication, limits and usage. Redis and the store may be unreachable. */
export async function openAuth(config: GatewayConfig, parts: AuthParts): Promise<Auth> {
  const { log, metrics, clock } = parts;
  const { limits, redisUrl } = config;
  const warnOfStore = (err: unknown) => log.warn({ err }, "the key store is unreachable");
  const warnOfUsage = limitFailureReports(({ failures, error }) =>
    log.warn({ failures, err: error }, "usage cannot be read or written for now; counts stay in memory"),
  );
  const onUsageFailure = (error: unknown) => warnOfUsage(error as Error);

  const { limiter, close: closeLimiter } = await openLimiter({
    ...{ redisUrl, clock, log, metrics },
    sharedBuckets: parts.sharedBuckets,
    redisTimeoutMs: parts.redisTimeoutMs,
  });
  const store = createLazyKeyDirectory(parts.openKeys);
  const getRule = createKeyRules(limits.key);
  const directory = restoreQuotas({
    directory: store,
    usage: store.usage,
    limiter,
    clock,
    hasQuota: (record) => getRule(record).dailyQuota !== null,
    onFailure: onUsageFailure,
  });
  const lookup = createKeyLookup({ directory, clock, onStoreFailure: warnOfStore });
  const changes = await subscribeKeyChanges({ redisUrl, lookup, log });
  const usage = createUsageCounter({ store: store.usage, clock, onFailure: onUsageFailure });
  usage.start();

  return {
    authenticateKey: createKeyAuthenticator({ lookup, clock, bootstrapKey: config.bootstrapKey, getRule }),
    admitKey: createKeyLimits({ limiter, usage }),
    addressLimits: createAddressLimits({
      limiter,
      readAddress: createClientAddressReader(config.trustedProxies),
      rules: {
        refusal: createRule(limits.address, "refused"),
        unpaid: createRule(limits.address, "unpaid"),
        verification: createRule(limits.verification, "verify"),
        lookup: createRule(limits.address, "lookup"),
        page: createRule(limits.address, "pages"),
        preflight: createRule(scaleLimits(limits.address, PREFLIGHT_FACTOR), "preflight"),
      },
      lookupQueue: createLookupQueue(),
    }),
    limiter,
    usage,
    usageStore: store.usage,
    open: () => store.open().catch(warnOfStore),
    async close() {
      changes.close();
      closeLimiter();
      await withTimeout(LAST_FLUSH_MS, usage.stop()).catch((err) =>
        log.error({ err }, "usage of the last seconds could not be written"),
      );
      await withTimeout(LAST_FLUSH_MS, store.close()).catch(warnOfStore);
    },
  };
}

function scaleLimits({ ratePerSecond, burst, dailyQuota }: LimitSettings, factor: number): LimitSettings {
  return {
    ratePerSecond: Math.min(MAX_RATE, ratePerSecond * factor),
    burst: Math.min(MAX_BURST, burst * factor),
    dailyQuota,
  };
}

function withTimeout<T>(timeoutMs: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Not done within ${timeoutMs} ms`)), timeoutMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
