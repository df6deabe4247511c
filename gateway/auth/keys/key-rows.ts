import { randomBytes } from "node:crypto";
import type { Family } from "../../../services/shared/contract/endpoint.ts";
import { hashApiKey, mintApiKey } from "./api-key.ts";
import { type KeyRow, keyStateAt } from "./key-record.ts";
import { type KeyLimitOverrides, type KeySettings, NO_SETTINGS, parseKeySettings } from "./key-settings.ts";

/** What an operator says of a key; a field that is absent stays as it is, or begins empty. */
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
  /** How long the old key goes on, unless it ends before. */
  readonly overlapSeconds: number;
  /** When the new key ends; absent = after as long a life as the old one was given. */
  readonly expiresAt?: number | null;
}

/** A change that makes no sense for the key as it is; the message says why. */
export class InvalidKeyChange extends Error {
  override readonly name = "KeyRefusal";
}

export interface CreatedKeyRow {
  readonly key: string;
  readonly row: KeyRow;
}

/** A new key and the row that stands for it. */
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

/** The row with what a change names. Settings that this version does not know stay as they are. */
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

export interface KeyRotation {
  readonly successor: CreatedKeyRow;
  /** When the old key ends. */
  readonly computeOldExpiry: (old: KeyRow) => number;
}

/** What takes a key's place. Throws KeyRefusal for a key that is over or has been rotated before. */
export function rotateKeyRow(old: KeyRow, rotation: RotationOptions, nowSeconds: number): KeyRotation {
  const state = keyStateAt(old, nowSeconds);
  if (state !== "live") throw new InvalidKeyChange(`Cannot rotate ${old.id}: it is ${state}.`);
  const { owner, note, limits, subject, rotatedTo } = parseKeySettings(old.settings);
  if (rotatedTo !== null) throw new InvalidKeyChange(`Cannot rotate ${old.id}: it was, to ${rotatedTo}.`);
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
    // Earlier by a second where the overlap changes nothing: of two rotations at once only one may find the end as it was.
    computeOldExpiry: ({ expiresAt }) => (expiresAt === null || expiresAt > end ? end : expiresAt - 1),
  };
}
