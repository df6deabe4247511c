import type { Family } from "../../../services/shared/contract/endpoint.ts";
import { collection, type RowOf } from "../../../services/shared/storage/collection.ts";
import { type KeySettings, parseKeySettings } from "./key-settings.ts";

export const FAMILIES: readonly Family[] = ["evm-dex", "lending", "solana"];

/**
 * One row per API key. The hash is the primary key, so a request costs one read by primary key and a sharded store
 * spreads keys evenly; people, logs and counters use the id.
 * All times are Unix seconds.
 */
export const keysCollection = collection({
  name: "keys",
  fields: {
    hash: "text",
    id: "text",
    label: "text",
    /** Endpoint families the key may request, an array of text. */
    scopes: "json",
    createdAt: "int",
    expiresAt: "int?",
    revokedAt: "int?",
    suspendedAt: "int?",
    /** Settings that need no index (rates, quotas, notes): new ones need no new declaration. */
    settings: "json?",
  },
  key: ["hash"],
  indexes: [{ fields: ["id"] }],
  shardKey: ["hash"],
});

export type KeyRow = RowOf<typeof keysCollection>;

/** Everything stored about a key. The key itself is not stored. */
export interface KeyRecord extends Omit<KeySettings, "subject"> {
  readonly id: string;
  readonly hash: string;
  readonly label: string;
  readonly scopes: readonly Family[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly suspendedAt: number | null;
  /** The id that limits and quotas count by: its own, or that of the first key it was rotated from. */
  readonly subject: string;
}

type KeyState = "live" | "expired" | "revoked" | "suspended";

/** The state of a key at a time; `nowSeconds` is Unix time. Revocation outranks everything else. */
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

/** Reads a row; drops scopes that this version does not know. */
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
