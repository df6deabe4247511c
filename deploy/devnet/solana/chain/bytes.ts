import { decodeAddress } from "../../../../services/solana/chain/program-address.ts";

/** A value as Borsh and the token program write it: little-endian. */
export type Field = Uint8Array;

export function u8(value: number): Field {
  return Uint8Array.of(value);
}

export function flag(value: boolean): Field {
  return Uint8Array.of(value ? 1 : 0);
}

export function u16(value: number): Field {
  return integer(BigInt(value), 2);
}

export function u32(value: number): Field {
  return integer(BigInt(value), 4);
}

export function i32(value: number): Field {
  return integer(BigInt.asUintN(32, BigInt(value)), 4);
}

export function u64(value: bigint | number): Field {
  return integer(BigInt(value), 8);
}

export function i64(value: bigint | number): Field {
  return integer(BigInt.asUintN(64, BigInt(value)), 8);
}

export function u128(value: bigint): Field {
  return integer(value, 16);
}

function integer(value: bigint, length: number): Field {
  if (value < 0n || value >> BigInt(8 * length) !== 0n)
    throw new RangeError(`Cannot write ${value}: it does not fit ${length} bytes`);
  const bytes = new Uint8Array(length);
  let left = value;
  for (let i = 0; i < length; i++) {
    bytes[i] = Number(left & 0xffn);
    left >>= 8n;
  }
  return bytes;
}

const known = new Map<string, Field>();

/** An address; the few there are come up again and again. */
export function key(address: string): Field {
  let bytes = known.get(address);
  if (bytes === undefined) {
    bytes = decodeAddress(address);
    if (known.size > 10_000) known.clear();
    known.set(address, bytes);
  }
  return bytes;
}

export function text(value: string): Field {
  const bytes = new TextEncoder().encode(value);
  return join(u32(bytes.length), bytes);
}

export function hex(digits: string): Field {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function zeros(length: number): Field {
  return new Uint8Array(length);
}

export function join(...fields: readonly Field[]): Uint8Array {
  const joined = new Uint8Array(fields.reduce((length, field) => length + field.length, 0));
  let offset = 0;
  for (const field of fields) {
    joined.set(field, offset);
    offset += field.length;
  }
  return joined;
}
