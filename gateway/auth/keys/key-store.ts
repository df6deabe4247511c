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

/** What a request needs of the key store. */
export interface KeyDirectory {
  /** Rejects when the store cannot be asked. */
  findByHash(hash: string): Promise<KeyRecord | undefined>;
}

export interface CreatedKey {
  /** The key itself: here and nowhere else. */
  readonly key: string;
  readonly record: KeyRecord;
}

/**
 * Keys and what may be done to them. Every change is written only if the key has not been revoked, suspended or given
 * another end meanwhile, and is made anew upon what it has become otherwise: of two operators at once neither undoes
 * what the other did to a key's life. Labels, notes, scopes and limits have no such guard: the later word counts.
 * A change answers undefined for an id that no key has, and throws KeyRefusal where it makes no sense.
 */
export interface KeyStore extends KeyDirectory {
  create(wanted: NewKey): Promise<CreatedKey>;
  /** Every key, oldest first. */
  list(): Promise<KeyRecord[]>;
  find(id: string): Promise<KeyRecord | undefined>;
  change(id: string, change: KeyChange): Promise<KeyRecord | undefined>;
  /** A new key with the label, owner, scopes and limits of an old one, which ends when the overlap is over. */
  rotate(
    id: string,
    rotation: RotationOptions,
  ): Promise<(CreatedKey & { readonly old: KeyRecord }) | undefined>;
  /** Until resume, the key is refused with 403. */
  suspend(id: string): Promise<KeyRecord | undefined>;
  resume(id: string): Promise<KeyRecord | undefined>;
  /** For good. Revoking twice keeps the first time. */
  revoke(id: string): Promise<KeyRecord | undefined>;
}

/** More operators than this at one key at one moment there are not. */
const MAX_ATTEMPTS = 20;

/** The keys over any store; declares the collection, so opening an empty store is enough. */
export async function openKeyStore(store: Store, clock: Clock): Promise<KeyStore> {
  await store.declare([keysCollection]);
  const nowSeconds = () => Math.floor(clock.nowMs() / 1000);

  const rowById = async (id: string) => (await store.find(keysCollection, { filter: { id }, limit: 1 }))[0];

  const insert = async ({ key, row }: CreatedKeyRow): Promise<CreatedKey> => {
    const isNew = await store.compareAndSet(keysCollection, row, null);
    if (!isNew) throw new Error("Cannot create the key: its hash is already stored");
    return { key, record: toKeyRecord(row) };
  };

  /** `next` answers the row to write, or undefined to leave it as it is. */
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
    throw new Error(`Cannot change ${id}: others change it all the time`);
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
      // First, so that whoever is killed in between leaves an old key that lives, not a client without one.
      const made = await insert(successor);
      try {
        const old = await update(id, (current) => {
          const { rotatedTo } = parseKeySettings(current.settings);
          if (rotatedTo !== null) throw new InvalidKeyChange(`Cannot rotate ${id}: it was, to ${rotatedTo}.`);
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
