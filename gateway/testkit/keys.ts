import { openSqliteStore } from "../../services/shared/storage/sqlite/store.ts";
import { hashApiKey, mintApiKey } from "../auth/keys/api-key.ts";
import { FAMILIES, type KeyRecord } from "../auth/keys/key-record.ts";
import { NO_SETTINGS } from "../auth/keys/key-settings.ts";
import type { KeyDirectory } from "../auth/keys/key-store.ts";
import type { AuthStores } from "../auth/lazy-directory.ts";
import { openUsageStore, type UsageStore } from "../auth/usage/usage-store.ts";

/** A directory in memory that counts its look-ups and can be made to fail or to wait. */
export interface FakeDirectory extends KeyDirectory {
  readonly records: Map<string, KeyRecord>;
  lookups: number;
  failure: Error | undefined;
  /** Every look-up waits for it. */
  gate: Promise<void>;
  /** Adds a key; returns its text. */
  add(changes?: Partial<KeyRecord>): string;
}

export function createFakeDirectory(): FakeDirectory {
  const records = new Map<string, KeyRecord>();
  return {
    records,
    lookups: 0,
    failure: undefined,
    gate: Promise.resolve(),
    add(changes = {}) {
      const key = mintApiKey();
      const hash = hashApiKey(key);
      const { subject: _none, ...settings } = NO_SETTINGS;
      const id = changes.id ?? `key_${records.size}`;
      const life = { createdAt: 0, expiresAt: null, revokedAt: null, suspendedAt: null };
      const base = { id, hash, label: "test", scopes: FAMILIES, subject: id };
      records.set(hash, { ...base, ...life, ...settings, ...changes });
      return key;
    },
    async findByHash(hash) {
      this.lookups += 1;
      await this.gate;
      if (this.failure) throw this.failure;
      return records.get(hash);
    },
  };
}

/** What a gateway opens, over such a directory and a store of usage in memory; `usage` outlives a close. */
export async function openFakeKeys(keys: FakeDirectory, usage?: UsageStore): Promise<AuthStores> {
  if (usage !== undefined) return { keys: keys as never, usage, close: async () => {} };
  const store = await openSqliteStore({ path: ":memory:" });
  return { keys: keys as never, usage: await openUsageStore(store), close: () => store.close() };
}
