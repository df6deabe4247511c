import { randomBytes } from "node:crypto";
import type { Family } from "../../../services/shared/contract/endpoint.ts";
import { hashApiKey, mintApiKey } from "./api-key.ts";
import { type KeyRow, keyStateAt } from "./key-record.ts";
import { type KeyLimitOverrides, type KeySettings, NO_SETTINGS, parseKeySettings } from "./key-settings.ts";

/** Changes an operator makes to a key; absent fields stay as they are, or start empty. */
export interface KeyChange {
  readonly label?: string;
  readonly owner?: string | null;
  readonly note?: string | null;
  readonly scopes?: readonly Family[];
  /** Unix seconds; null = never. */
  readonly expiresAt?: number | null;
  readonly limits?: Partial<KeyLimitOverrides>;
}

export interface NewKey extends KeyChange {
  readonly label: string;
  readonly scopes: readonly Family[];
}

export interface RotationOptions {
  /** How long the old key stays valid, unless it expires before. */
  readonly overlapSeconds: number;
  /** When the new key expires; absent = after the same lifetime as the old one's. */
  readonly expiresAt?: number | null;
}

/** A change that the key's state does not allow; the message says why. */
export class InvalidKeyChange extends Error {
  override readonly name = "InvalidKeyChange";
}

export interface CreatedKeyRow {
  readonly key: string;
  readonly row: KeyRow;
}

/** Creates a key and its row. */
export function createKeyRow(wanted: NewKey, nowSeconds: number): CreatedKeyRow {
  const key = mintApiKey();
  const row: KeyRow = {
    hash: hashApiKey(key),
    id: `key_${randomBytes(8).toString("hex")}`,
    label: wanted.label,
    scopes: [...wanted.scopes],
    createdAt: nowSeconds,
    expiresAt: null,
    revokedAt: null,
    suspendedAt: null,
    settings: NO_SETTINGS,
  };
  return { key, row: applyKeyChange(row, wanted) };
}

/** Returns the row with a change applied. Keeps settings that this version does not know. */
export function applyKeyChange(row: KeyRow, change: KeyChange): KeyRow {
  const { label, owner, note, scopes, expiresAt, limits } = change;
  const known = parseKeySettings(row.settings);
  const settings: KeySettings = {
    ...(row.settings as object | null),
    ...known,
    owner: owner === undefined ? known.owner : owner,
    note: note === undefined ? known.note : note,
    limits: { ...known.limits, ...limits },
  };
  return {
    ...row,
    label: label ?? row.label,
    scopes: scopes === undefined ? row.scopes : [...scopes],
    expiresAt: expiresAt === undefined ? row.expiresAt : expiresAt,
    settings,
  };
}

interface KeyRotation {
  readonly successor: CreatedKeyRow;
  /** When the old key expires. */
  readonly computeOldExpiry: (old: KeyRow) => number;
}

/** Creates the successor of a key. Throws InvalidKeyChange if the key is not live or was rotated before. */
export function rotateKeyRow(old: KeyRow, rotation: RotationOptions, nowSeconds: number): KeyRotation {
  const state = keyStateAt(old, nowSeconds);
  if (state !== "live") throw new InvalidKeyChange(`Cannot rotate ${old.id}: it is ${state}.`);
  const { owner, note, limits, subject, rotatedTo } = parseKeySettings(old.settings);
  if (rotatedTo !== null)
    throw new InvalidKeyChange(`Cannot rotate ${old.id}: it was rotated to ${rotatedTo}.`);
  const { key, row } = createKeyRow({ label: old.label, owner, note, scopes: [], limits }, nowSeconds);
  const sameLife = old.expiresAt === null ? null : nowSeconds + (old.expiresAt - old.createdAt);
  const end = nowSeconds + rotation.overlapSeconds;
  return {
    successor: {
      key,
      row: {
        ...row,
        scopes: old.scopes,
        expiresAt: rotation.expiresAt === undefined ? sameLife : rotation.expiresAt,
        settings: { ...(row.settings as KeySettings), subject: subject ?? old.id },
      },
    },
    // One second earlier if the overlap would not change it: of two concurrent rotations only one may find the expiry unchanged.
    computeOldExpiry: ({ expiresAt }) => (expiresAt === null || expiresAt > end ? end : expiresAt - 1),
  };
}
