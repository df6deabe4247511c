import type { Family } from "../../../services/shared/contract/endpoint.ts";
import { collection, type RowOf } from "../../../services/shared/storage/port.ts";
import { type KeySettings, parseKeySettings } from "./key-settings.ts";

export const FAMILIES: readonly Family[] = ["evm-dex", "lending", "solana"];

/**
 * One row per API key. The hash is the key of the row, so that a request costs one read by primary key and a
 * sharded store spreads keys evenly; the id is what people, logs and counters call it.
 * All times are Unix seconds.
 */
export const keysCollection = collection({
  name: "keys",
  fields: {
    hash: "text",
    id: "text",
    label: "text",
    /** Families the key may ask, an array of text. */
    scopes: "json",
    createdAt: "int",
    expiresAt: "int?",
    revokedAt: "int?",
    suspendedAt: "int?",
    /** Settings of a key that need no index (rates, quotas, notes): they grow without a new declaration. */
    settings: "json?",
  },
  key: ["hash"],
  indexes: [{ fields: ["id"] }],
  shardKey: ["hash"],
});

export type KeyRow = RowOf<typeof keysCollection>;

/** What the gateway knows of a key. The key itself is nowhere. */
export interface KeyRecord extends Omit<KeySettings, "subject"> {
  readonly id: string;
  readonly hash: string;
  readonly label: string;
  readonly scopes: readonly Family[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly suspendedAt: number | null;
  /** The id that limits and quotas count it by: its own, or that of the first key it was rotated from. */
  readonly subject: string;
}

export type KeyState = "live" | "expired" | "revoked" | "suspended";

/** What a key is worth at a moment; `nowSeconds` is Unix time. Revocation outranks everything else. */
export function keyStateAt(
  record: Pick<KeyRecord, "expiresAt" | "revokedAt" | "suspendedAt">,
  nowSeconds: number,
): KeyState {
  if (record.revokedAt !== null) return "revoked";
  if (record.expiresAt !== null && record.expiresAt <= nowSeconds) return "expired";
  return record.suspendedAt === null ? "live" : "suspended";
}

export function isFamily(value: unknown): value is Family {
  return FAMILIES.includes(value as Family);
}

/** Reads a row; a scope this version does not know is dropped, never granted. */
export function toKeyRecord(row: KeyRow): KeyRecord {
  const { settings, scopes, ...rest } = row;
  const { subject, ...known } = parseKeySettings(settings);
  return {
    ...rest,
    ...known,
    subject: subject ?? row.id,
    scopes: Array.isArray(scopes) ? scopes.filter(isFamily) : [],
  };
}
