import { remove, type Store } from "../../../services/shared/storage/port.ts";
import type { Clock } from "../../request/clock.ts";
import { type KeyRecord, type KeyRow, keysCollection, toKeyRecord } from "./key-record.ts";
import {
  applyKeyChange,
  type CreatedKeyRow,
  createKeyRow,
  InvalidKeyChange,
  type KeyChange,
  type NewKey,
  type RotationOptions,
  rotateKeyRow,
} from "./key-rows.ts";
import { parseKeySettings } from "./key-settings.ts";

/** The part of the key store that requests need. */
export interface KeyDirectory {
  /** Rejects if the store is unreachable. */
  findByHash(hash: string): Promise<KeyRecord | undefined>;
}

interface CreatedKey {
  /** The key itself, which is stored nowhere. */
  readonly key: string;
  readonly record: KeyRecord;
}

/**
 * API keys and their changes. A change is written only if the key was not revoked, suspended or given another expiry
 * meanwhile, and is otherwise applied again to the new state: no operator undoes another's change to a key's life. Labels,
 * notes, scopes and limits have no such guard: the later write wins.
 * Changes return undefined for an unknown id, and throw InvalidKeyChange if the key's state does not allow them.
 */
export interface KeyStore extends KeyDirectory {
  create(wanted: NewKey): Promise<CreatedKey>;
  /** Every key, oldest first. */
  list(): Promise<KeyRecord[]>;
  find(id: string): Promise<KeyRecord | undefined>;
  change(id: string, change: KeyChange): Promise<KeyRecord | undefined>;
  /** Creates a key with the label, owner, scopes and limits of an old one, which expires after the overlap. */
  rotate(
    id: string,
    rotation: RotationOptions,
  ): Promise<(CreatedKey & { readonly old: KeyRecord }) | undefined>;
  /** Refuses the key with 403 until it is resumed. */
  suspend(id: string): Promise<KeyRecord | undefined>;
  resume(id: string): Promise<KeyRecord | undefined>;
  /** Final. Revoking twice keeps the first time. */
  revoke(id: string): Promise<KeyRecord | undefined>;
}

/** More than the operators that change one key at the same moment. */
const MAX_ATTEMPTS = 20;

/** Opens the keys in any store; declares the collection, so an empty store is enough. */
export async function openKeyStore(store: Store, clock: Clock): Promise<KeyStore> {
  await store.declare([keysCollection]);
  const nowSeconds = () => Math.floor(clock.nowMs() / 1000);

  const rowById = async (id: string) => (await store.find(keysCollection, { filter: { id }, limit: 1 }))[0];

  const insert = async ({ key, row }: CreatedKeyRow): Promise<CreatedKey> => {
    const isNew = await store.compareAndSet(keysCollection, row, null);
    if (!isNew) throw new Error("Cannot create the key: its hash is already stored");
    return { key, record: toKeyRecord(row) };
  };

  /** `next` returns the row to write, or undefined to leave it unchanged. */
  const update = async (id: string, next: (row: KeyRow) => KeyRow | undefined) => {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const row = await rowById(id);
      if (!row) return undefined;
      const changed = next(row);
      if (!changed) return toKeyRecord(row);
      const { revokedAt, suspendedAt, expiresAt } = row;
      if (await store.compareAndSet(keysCollection, changed, { revokedAt, suspendedAt, expiresAt }))
        return toKeyRecord(changed);
    }
    throw new Error(`Cannot change ${id}: other changes keep coming in between`);
  };

  return {
    async findByHash(hash) {
      const row = await store.get(keysCollection, { hash });
      return row && toKeyRecord(row);
    },

    create: (wanted) => insert(createKeyRow(wanted, nowSeconds())),

    async list() {
      const rows = await store.find(keysCollection, {});
      return rows.map(toKeyRecord).sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    },

    async find(id) {
      const row = await rowById(id);
      return row && toKeyRecord(row);
    },

    change: (id, change) => update(id, (row) => applyKeyChange(row, change)),

    async rotate(id, rotation) {
      const row = await rowById(id);
      if (!row) return undefined;
      const { successor, computeOldExpiry } = rotateKeyRow(row, rotation, nowSeconds());
      // Created first: a crash in between leaves a valid old key, not a client without one.
      const made = await insert(successor);
      try {
        const old = await update(id, (current) => {
          const { rotatedTo } = parseKeySettings(current.settings);
          if (rotatedTo !== null)
            throw new InvalidKeyChange(`Cannot rotate ${id}: it was rotated to ${rotatedTo}.`);
          return {
            ...applyKeyChange(current, { expiresAt: computeOldExpiry(current) }),
            settings: { ...(current.settings as object | null), rotatedTo: made.record.id },
          };
        });
        if (!old) throw new InvalidKeyChange(`Cannot rotate ${id}: it is gone.`);
        return { ...made, old };
      } catch (error) {
        await store.write([remove(keysCollection, [{ hash: successor.row.hash }])]);
        throw error;
      }
    },

    suspend: (id) =>
      update(id, (row) => {
        if (row.revokedAt !== null) throw new InvalidKeyChange(`Cannot suspend ${id}: it is revoked.`);
        return row.suspendedAt === null ? { ...row, suspendedAt: nowSeconds() } : undefined;
      }),

    resume: (id) =>
      update(id, (row) => {
        if (row.revokedAt !== null) throw new InvalidKeyChange(`Cannot resume ${id}: it is revoked.`);
        return row.suspendedAt === null ? undefined : { ...row, suspendedAt: null };
      }),

    revoke: (id) =>
      update(id, (row) => (row.revokedAt === null ? { ...row, revokedAt: nowSeconds() } : undefined)),
  };
}
