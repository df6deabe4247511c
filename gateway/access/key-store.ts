import { randomBytes } from "node:crypto";
import type { Family } from "../../services/shared/contract/endpoint.ts";
import type { Store } from "../../services/shared/storage/port.ts";
import type { Clock } from "../clock.ts";
import { hashApiKey, mintApiKey } from "./api-key.ts";
import { type KeyRecord, keysCollection, toKeyRecord } from "./key-record.ts";

/** What a request needs of the key store. */
export interface KeyDirectory {
  /** Rejects when the store cannot be asked. */
  findByHash(hash: string): Promise<KeyRecord | undefined>;
}

export interface NewKey {
  readonly label: string;
  readonly scopes: readonly Family[];
  /** Unix seconds; absent = never. */
  readonly expiresAt?: number;
}

export interface KeyStore extends KeyDirectory {
  /** Stores a new key's hash. The answer is the only place where the key itself ever stands. */
  create(wanted: NewKey): Promise<{ readonly key: string; readonly record: KeyRecord }>;
  /** Every key, oldest first. */
  list(): Promise<KeyRecord[]>;
  /** The revoked record; undefined for an id no key has. Revoking twice keeps the first time. */
  revoke(id: string): Promise<KeyRecord | undefined>;
}

/** The keys over any store; declares the collection, so opening an empty store is enough. */
export async function openKeyStore(store: Store, clock: Clock): Promise<KeyStore> {
  await store.declare([keysCollection]);
  const nowSeconds = () => Math.floor(clock.nowMs() / 1000);

  const rowById = async (id: string) => (await store.find(keysCollection, { filter: { id }, limit: 1 }))[0];

  return {
    async findByHash(hash) {
      const row = await store.get(keysCollection, { hash });
      return row && toKeyRecord(row);
    },

    async create({ label, scopes, expiresAt }) {
      const key = mintApiKey();
      const row = {
        hash: hashApiKey(key),
        id: `key_${randomBytes(8).toString("hex")}`,
        label,
        scopes: [...scopes],
        createdAt: nowSeconds(),
        expiresAt: expiresAt ?? null,
        revokedAt: null,
        suspendedAt: null,
        settings: null,
      };
      const isNew = await store.compareAndSet(keysCollection, row, null);
      if (!isNew) throw new Error("Cannot create the key: its hash is already stored");
      return { key, record: toKeyRecord(row) };
    },

    async list() {
      const rows = await store.find(keysCollection, {});
      return rows.map(toKeyRecord).sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    },

    async revoke(id) {
      const row = await rowById(id);
      if (!row) return undefined;
      if (row.revokedAt !== null) return toKeyRecord(row);
      const revoked = { ...row, revokedAt: nowSeconds() };
      // Conditional, so that two operators at once leave one time and neither undoes the other.
      const wrote = await store.compareAndSet(keysCollection, revoked, { revokedAt: null });
      const stored = wrote ? revoked : await rowById(id);
      return stored && toKeyRecord(stored);
    },
  };
}
