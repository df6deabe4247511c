import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

const API_KEY_PATTERN = /^ct_[A-Za-z0-9_-]{43}_[0-9a-f]{8}$/;
/** Length of "ct_" and 43 characters of base64url: the part the checksum covers. */
const CHECKED_LENGTH = 46;

/** A new API key: `ct_<43 base64url characters of 32 random bytes>_<CRC-32 of the text before it, 8 hex digits>`. */
export function mintApiKey(): string {
  const checked = `ct_${randomBytes(32).toString("base64url")}`;
  return `${checked}_${computeChecksum(checked)}`;
}

/** Whether a text has the form of a key and a correct checksum: a typo is refused without a look-up. */
export function isWellFormedApiKey(text: string): boolean {
  return (
    API_KEY_PATTERN.test(text) &&
    computeChecksum(text.slice(0, CHECKED_LENGTH)) === text.slice(CHECKED_LENGTH + 1)
  );
}

/**
 * SHA-256 of a key, hex: the only form of it that is stored, cached or compared.
 * No salt and no slow hash, because a key carries 256 random bits and cannot be guessed from its hash.
 */
export function hashApiKey(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Compares two hashes in constant time. */
export function isSameHash(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function computeChecksum(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
