/** A log as a pool emits it, before it has a place in a block. */
export interface Emitted {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

const MASK = (1n << 256n) - 1n;

/** A word of ABI data, without 0x. */
export function word(value: bigint | number): string {
  const wide = typeof value === "bigint" ? value : BigInt(value);
  return (wide < 0n ? wide & MASK : wide).toString(16).padStart(64, "0");
}

export function dataOf(...values: readonly (bigint | number)[]): string {
  let text = "0x";
  for (const value of values) text += word(value);
  return text;
}

/** An address as an indexed topic. */
export function addressTopic(address: string): string {
  return `0x${"0".repeat(24)}${address.slice(2)}`;
}

export function numberTopic(value: number): string {
  return `0x${word(value)}`;
}

/** A float as raw units; at least one. */
export function raw(value: number): bigint {
  return BigInt(Math.max(1, Math.round(value)));
}
