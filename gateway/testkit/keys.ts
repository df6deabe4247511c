import { hashApiKey, mintApiKey } from "../access/api-key.ts";
import { FAMILIES, type KeyRecord } from "../access/key-record.ts";
import type { KeyDirectory } from "../access/key-store.ts";

/** A directory in memory that counts its questions and can be made to fail or to wait. */
export interface FakeDirectory extends KeyDirectory {
  readonly records: Map<string, KeyRecord>;
  questions: number;
  failure: Error | undefined;
  /** Every answer waits for it. */
  gate: Promise<void>;
  /** Adds a key; answers its text. */
  add(changes?: Partial<KeyRecord>): string;
}

export function createFakeDirectory(): FakeDirectory {
  const records = new Map<string, KeyRecord>();
  return {
    records,
    questions: 0,
    failure: undefined,
    gate: Promise.resolve(),
    add(changes = {}) {
      const key = mintApiKey();
      const hash = hashApiKey(key);
      const base = { id: `key_${records.size}`, hash, label: "test", scopes: FAMILIES, createdAt: 0 };
      records.set(hash, { ...base, expiresAt: null, revokedAt: null, suspendedAt: null, ...changes });
      return key;
    },
    async findByHash(hash) {
      this.questions += 1;
      await this.gate;
      if (this.failure) throw this.failure;
      return records.get(hash);
    },
  };
}
