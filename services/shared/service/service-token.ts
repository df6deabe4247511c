import { createHash, timingSafeEqual } from "node:crypto";
import type { Parse } from "../settings/env.ts";
import { InvalidSetting, list } from "../settings/env.ts";
import { registerSecret } from "../settings/secrets.ts";

/** This many hexadecimal digits are 128 bits. */
const MIN_LENGTH = 32;
/** What RFC 6750 allows in a bearer token. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

/** Comma-separated tokens. Each is registered as a secret, since logs may contain one without the others. */
export const serviceTokens: Parse<readonly string[]> = list((value) => {
  registerSecret(value);
  if (value.length < MIN_LENGTH || !TOKEN.test(value))
    throw new InvalidSetting(`a token of at least ${MIN_LENGTH} letters, digits or -._~+/`);
  return value;
});

/** The header (over gRPC: the metadata) that carries the token. */
export const TOKEN_HEADER = "authorization";

export function bearer(token: string): string {
  return `Bearer ${token}`;
}

/** Whether the value of the header TOKEN_HEADER carries an accepted token. */
export type TokenCheck = (authorization: string | undefined) => boolean;

/**
 * Accepts each of the tokens; undefined without tokens, when every request is accepted. Compares hashes of equal length,
 * all of them, so that the time reveals nothing about a token or its length.
 */
export function createTokenCheck(tokens: readonly string[] = []): TokenCheck | undefined {
  if (tokens.length === 0) return undefined;
  const accepted = tokens.map((token) => hash(bearer(token)));
  return (authorization = "") => {
    const sent = hash(authorization);
    return accepted.filter((wanted) => timingSafeEqual(wanted, sent)).length > 0;
  };
}

function hash(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i;

/** Whether only processes of this machine can reach a listener at this address. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
