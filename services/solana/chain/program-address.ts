import { createHash } from "node:crypto";
import { decodeBase58, encodeBase58 } from "../../shared/contract/base58.ts";

export const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
export const TOKEN_2022_PROGRAM = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";
export const ASSOCIATED_TOKEN_PROGRAM = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
export const METADATA_PROGRAM = "metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s";

const MARKER = new TextEncoder().encode("ProgramDerivedAddress");

/**
 * The address that a program owns for some seeds: the first hash of seeds, bump (from 255 down), program and marker
 * that is not a point of ed25519, so that no key exists for it.
 */
export function findProgramAddress(seeds: readonly (string | Uint8Array)[], program: string): string {
  const parts = seeds.map((seed) => (typeof seed === "string" ? new TextEncoder().encode(seed) : seed));
  const tail = [decodeAddress(program), MARKER];
  for (let bump = 255; bump >= 0; bump--) {
    const hash = createHash("sha256");
    for (const part of [...parts, Uint8Array.of(bump), ...tail]) hash.update(part);
    const address = hash.digest();
    if (!isOnCurve(address)) return encodeBase58(address);
  }
  throw new Error(`No address of ${program} lies off the curve for these seeds`);
}

/** The token account that wallets send to by default. */
export function associatedTokenAddress(owner: string, mint: string, tokenProgram: string): string {
  return findProgramAddress(
    [decodeAddress(owner), decodeAddress(tokenProgram), decodeAddress(mint)],
    ASSOCIATED_TOKEN_PROGRAM,
  );
}

/** Where Metaplex keeps a mint's name and symbol. */
export function metadataAddress(mint: string): string {
  return findProgramAddress(
    ["metadata", decodeAddress(METADATA_PROGRAM), decodeAddress(mint)],
    METADATA_PROGRAM,
  );
}

/** The 32 bytes of an address; throws TypeError for any other text. */
export function decodeAddress(address: string): Uint8Array {
  const bytes = decodeBase58(address);
  if (bytes?.length === 32) return bytes;
  throw new TypeError(`Cannot read an address: ${address.slice(0, 60)} is not 32 bytes in base58`);
}

const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/** Whether 32 bytes are a compressed point of ed25519 (RFC 8032, 5.1.3): whether (y² − 1) / (d·y² + 1) is a square. */
function isOnCurve(bytes: Uint8Array): boolean {
  let y = 0n;
  for (let i = 31; i >= 0; i--)
    y = (y << 8n) | BigInt(i === 31 ? (bytes[i] as number) & 0x7f : (bytes[i] as number));
  const square = (y * y) % P;
  const u = (square + P - 1n) % P;
  const v = (D * square + 1n) % P;
  const v3 = (((v * v) % P) * v) % P;
  const v7 = (((v3 * v3) % P) * v) % P;
  const x = (((u * v3) % P) * power((u * v7) % P, (P - 5n) / 8n)) % P;
  const check = (((v * x) % P) * x) % P;
  return check === u || check === (P - u) % P;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let factor = base;
  for (let left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = (result * factor) % P;
    factor = (factor * factor) % P;
  }
  return result;
}
