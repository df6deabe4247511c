import { LRUCache } from "lru-cache";
import type { Family } from "../../../services/shared/contract/endpoint.ts";
import { ServiceError } from "../../../services/shared/errors.ts";
import type { Clock } from "../../request/clock.ts";
import type { LimitRule } from "../limits/rule.ts";
import { hashApiKey, isSameHash, isWellFormedApiKey } from "./api-key.ts";
import type { KeyLookup } from "./key-lookup.ts";
import { FAMILIES, type KeyRecord, keyStateAt } from "./key-record.ts";

/** The holder of a request's key, without the key itself: safe to log. */
export interface KeyHolder {
  readonly id: string;
  readonly scopes: readonly Family[];
  readonly isSuspended: boolean;
  /** The name that limits count by: keys that were rotated into each other share it, so a rotation grants no second quota. */
  readonly subject: string;
  /** Undefined = no limits. */
  readonly rule: LimitRule | undefined;
  /** The stored record; undefined for the bootstrap key, which is not stored. */
  readonly record: KeyRecord | undefined;
}

export interface KeyAuthenticator {
  /**
   * Returns the holder of the key sent in X-API-KEY. Throws `unauthorized` (absent, malformed, unknown, expired, revoked)
   * or `unavailable` (the store is unreachable).
   */
  (sent: string | undefined, options?: AuthenticateOptions): Promise<KeyHolder>;
  /** The same without waiting, for a key that passed before and is fresh in the cache; undefined = call the above. */
  cached(sent: string): KeyHolder | undefined;
}

/** As many as the look-up caches. */
const MAX_CACHED_HASHES = 10_000;

interface AuthenticateOptions {
  /** Awaited before the store look-up of a key that is not cached; rejects to refuse the request. */
  readonly beforeLookup?: () => Promise<void>;
}

interface KeyAuthenticatorOptions {
  readonly lookup: KeyLookup;
  readonly clock: Clock;
  /** A key from the configuration with all scopes, for a first run and for tests; any text, off unless set. */
  readonly bootstrapKey?: string | undefined;
  /** The limits of a key. */
  readonly getRule: (record: KeyRecord) => LimitRule;
}

export function createKeyAuthenticator(options: KeyAuthenticatorOptions): KeyAuthenticator {
  const { lookup, clock, bootstrapKey, getRule } = options;
  const bootstrapHash = bootstrapKey ? hashApiKey(bootstrapKey) : undefined;
  const bootstrapHolder: KeyHolder = {
    id: "bootstrap",
    scopes: FAMILIES,
    isSuspended: false,
    subject: "bootstrap",
    rule: undefined,
    record: undefined,
  };

  /**
   * Hashes of keys that passed, by their text. The time of a look-up leaks nothing: a Map compares texts only if their
   * seeded hashes are equal.
   */
  const hashes = new LRUCache<string, string>({ max: MAX_CACHED_HASHES });

  const holderOf = (record: KeyRecord, isSuspended: boolean): KeyHolder => {
    const { id, scopes, subject } = record;
    return { id, scopes, isSuspended, subject, rule: getRule(record), record };
  };

  const check = async (sent: string | undefined, call?: AuthenticateOptions): Promise<KeyHolder> => {
    if (!sent) throw new ServiceError("unauthorized", "An API key is required in the header X-API-KEY.");
    const hash = hashApiKey(sent);
    if (bootstrapHash !== undefined && isSameHash(hash, bootstrapHash)) {
      hashes.set(sent, hash);
      return bootstrapHolder;
    }
    if (!isWellFormedApiKey(sent)) {
      throw new ServiceError(
        "unauthorized",
        "The key in X-API-KEY is malformed: its checksum does not match. Compare it with the text that was shown when it was created.",
      );
    }

    const record = await lookup(hash, call?.beforeLookup);
    if (!record || !isSameHash(record.hash, hash)) {
      throw new ServiceError("unauthorized", "The key in X-API-KEY is unknown.");
    }
    const state = keyStateAt(record, clock.nowMs() / 1000);
    if (state === "revoked" || state === "expired") {
      throw new ServiceError("unauthorized", `The key in X-API-KEY is ${state}.`);
    }
    hashes.set(sent, hash);
    return holderOf(record, state === "suspended");
  };

  return Object.assign(check, {
    cached(sent: string) {
      const hash = hashes.peek(sent);
      if (hash === undefined) return undefined;
      if (hash === bootstrapHash) return bootstrapHolder;
      const record = lookup.fresh(hash);
      const state = record && keyStateAt(record, clock.nowMs() / 1000);
      return record && (state === "live" || state === "suspended")
        ? holderOf(record, state === "suspended")
        : undefined;
    },
  });
}

/** A suspended key is not valid: its errors count against the address. */
export class SuspendedKeyError extends ServiceError {
  constructor() {
    super("forbidden", "The key in X-API-KEY is suspended.");
  }
}

export function rejectSuspended({ isSuspended }: KeyHolder): void {
  if (isSuspended) throw new SuspendedKeyError();
}

/** Throws `forbidden` for a family outside the key's scopes. */
export function authorize(holder: KeyHolder, family: Family): void {
  if (!holder.scopes.includes(family)) {
    const scopes = holder.scopes.join(", ") || "none";
    throw new ServiceError(
      "forbidden",
      `The key in X-API-KEY has no scope for ${family}; its scopes are: ${scopes}.`,
    );
  }
}
