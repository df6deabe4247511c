import type { Clock } from "../request/clock.ts";
import type { KeyRecord } from "./keys/key-record.ts";
import type { KeyDirectory } from "./keys/key-store.ts";
import type { Limiter } from "./limits/limiter.ts";
import { DAY_MS } from "./usage/usage-record.ts";
import type { UsageStore } from "./usage/usage-store.ts";

interface QuotaRestoreOptions {
  readonly directory: KeyDirectory;
  readonly usage: () => Promise<Pick<UsageStore, "countPassed">>;
  readonly limiter: Pick<Limiter, "raiseUsage">;
  readonly clock: Clock;
  readonly hasQuota: (record: KeyRecord) => boolean;
  /** Called if the day's usage could not be read; the key is found all the same. */
  readonly onFailure?: (error: unknown) => void;
}

/**
 * Wraps a directory: each look-up of a key with a daily quota also loads its stored usage of the day into the limiter. So
 * a quota survives restarts of gateways and of Redis, and gateways without Redis see each other's requests within seconds.
 * A quota counts the requests that passed, whatever their outcome.
 */
export function restoreQuotas(options: QuotaRestoreOptions): KeyDirectory {
  const { directory, usage, limiter, clock, hasQuota, onFailure } = options;
  return {
    async findByHash(hash) {
      const record = await directory.findByHash(hash);
      if (record === undefined || !hasQuota(record)) return record;
      const { subject } = record;
      const day = Math.floor(clock.nowMs() / DAY_MS);
      try {
        limiter.raiseUsage({ subject, day, used: await (await usage()).countPassed(subject, day) });
      } catch (error) {
        onFailure?.(error);
      }
      return record;
    },
  };
}
