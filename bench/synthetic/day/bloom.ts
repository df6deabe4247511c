import { keccak_256 } from "@noble/hashes/sha3.js";

/** Blooms of many blocks that share contracts, topics and wallets: each is hashed once. Source: yellow paper, 4.3.1. */
export class BloomMaker {
  readonly #bits = new Map<string, readonly number[]>();

  bloomOf(items: Iterable<string>): string {
    const bytes = Buffer.alloc(256);
    for (const item of items) {
      for (const bit of this.#bitsOf(item)) {
        const at = 255 - (bit >> 3);
        bytes[at] = (bytes[at] as number) | (1 << (bit & 7));
      }
    }
    return `0x${bytes.toString("hex")}`;
  }

  #bitsOf(item: string): readonly number[] {
    const known = this.#bits.get(item);
    if (known !== undefined) return known;
    const hash = keccak_256(Buffer.from(item.slice(2), "hex"));
    const bits = [0, 2, 4].map((i) => (((hash[i] as number) << 8) | (hash[i + 1] as number)) & 2047);
    this.#bits.set(item, bits);
    return bits;
  }
}
