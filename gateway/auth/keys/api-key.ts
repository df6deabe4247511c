import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

const SHAPE = /^ct_[A-Za-z0-9_-]{43}_[0-9a-f]{8}$/;
/** Length of "ct_" and 43 characters of base64url: the part the checksum covers. */
const CHECKED_LENGTH = 46;

/** A new API key: `ct_<43 base64url characters of 32 random bytes>_<CRC-32 of what stands before, 8 hex digits>`. */
export function mintApiKey(): string {
  const checked = `ct_${randomBytes(32).toString("base64url")}`;
  return `${checked}_${checksumOf(checked)}`;
}

/** Whether a text is shaped like a key and its checksum fits: a typo is refused without asking the store. */
export function isWellFormedApiKey(text: string): boolean {
  return SHAPE.test(text) && checksumOf(text.slice(0, CHECKED_LENGTH)) === text.slice(CHECKED_LENGTH + 1);
}

/**
 * SHA-256 of a key, hex: the only form of it that is stored, cached or compared.
 * No salt and no slow hash, because a key carries 256 random bits and cannot be guessed from its hash.
 */
export function hashApiKey(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Compares two hashes without telling by the time taken where they differ. */
export function isSameHash(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
