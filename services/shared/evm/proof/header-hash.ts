import { keccak_256 } from "@noble/hashes/sha3.js";
import { parseBytes } from "../hex.ts";
import type { Hex } from "../port.ts";
import { encodeRlp, hexBytes, quantityBytes, toHex } from "./rlp.ts";

type FieldKind = "bytes" | "quantity" | "nonce";

const NONCE_DIGITS = 16;

/** The fields that a header has had from the beginning, in the order of its hash. */
const FIELDS = {
  parentHash: "bytes",
  sha3Uncles: "bytes",
  miner: "bytes",
  stateRoot: "bytes",
  transactionsRoot: "bytes",
  receiptsRoot: "bytes",
  logsBloom: "bytes",
  difficulty: "quantity",
  number: "quantity",
  gasLimit: "quantity",
  gasUsed: "quantity",
  timestamp: "quantity",
  extraData: "bytes",
  mixHash: "bytes",
  nonce: "nonce",
} as const satisfies Record<string, FieldKind>;

/** Those that forks have added at the end: London, Shanghai, Cancun (three), Prague. A block has them up to its fork. */
const ADDED_FIELDS = {
  baseFeePerGas: "quantity",
  withdrawalsRoot: "bytes",
  blobGasUsed: "quantity",
  excessBlobGas: "quantity",
  parentBeaconBlockRoot: "bytes",
  requestsHash: "bytes",
} as const satisfies Record<string, FieldKind>;

/** The fields of a header that its hash covers, by their names in JSON-RPC. */
export const HASHED_FIELDS = [...Object.keys(FIELDS), ...Object.keys(ADDED_FIELDS)] as const;

/**
 * The hash that follows from a header's fields: keccak256 of their RLP. Quantities may be numbers or hex. Undefined
 * where a field is missing or malformed, or one that a fork added follows on one that is not there.
 */
export function computeHeaderHash(header: Readonly<Record<string, unknown>>): Hex | undefined {
  const fields = encodeFields(header, Object.entries(FIELDS));
  const added = Object.entries(ADDED_FIELDS);
  const count = added.findIndex(([name]) => !isPresent(header[name]));
  const present = count < 0 ? added : added.slice(0, count);
  if (added.slice(present.length).some(([name]) => isPresent(header[name]))) return undefined;
  const later = encodeFields(header, present);
  if (fields === undefined || later === undefined) return undefined;
  return toHex(keccak_256(encodeRlp([...fields, ...later])));
}

function encodeFields(
  header: Readonly<Record<string, unknown>>,
  fields: readonly (readonly [string, FieldKind])[],
): Uint8Array[] | undefined {
  const encoded: Uint8Array[] = [];
  for (const [name, kind] of fields) {
    const value = READERS[kind](header[name]);
    if (value === undefined) return undefined;
    encoded.push(value);
  }
  return encoded;
}

function readBytes(value: unknown): Uint8Array | undefined {
  const hex = parseBytes(value);
  return hex === undefined ? undefined : hexBytes(hex);
}

function readQuantity(value: unknown): Uint8Array | undefined {
  if (typeof value === "number")
    return Number.isSafeInteger(value) && value >= 0 ? quantityBytes(value) : undefined;
  // 32 bytes are the most that a quantity has.
  if (typeof value !== "string" || !/^0x[0-9a-f]{1,64}$/i.test(value)) return undefined;
  return quantityBytes(BigInt(value));
}

/** Eight bytes; some write them as a number. */
function readNonce(value: unknown): Uint8Array | undefined {
  const digits = typeof value === "number" ? readQuantity(value) && value.toString(16) : parseDigits(value);
  if (digits === undefined || digits.length > NONCE_DIGITS) return undefined;
  return Buffer.from(digits.padStart(NONCE_DIGITS, "0"), "hex");
}

function parseDigits(value: unknown): string | undefined {
  return typeof value === "string" && /^0x[0-9a-f]+$/i.test(value) ? value.slice(2) : undefined;
}

const READERS = { bytes: readBytes, quantity: readQuantity, nonce: readNonce } as const;

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}
