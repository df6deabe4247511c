/** Most blocks are this long; a place in one fits in BLOCK_BITS. */
export const BLOCK_BITS = 16;
export const BLOCK_BYTES = 2 ** BLOCK_BITS;

/** Memory that threads share, outside of the heap: what was given back is used again, by rows of any collection. */
export class BlockPool {
  #free: Uint8Array[] = [];

  /** A longer one than usual where it has to be. */
  take(leastBytes: number): Uint8Array {
    const free = leastBytes > BLOCK_BYTES ? undefined : this.#free.pop();
    return free ?? new Uint8Array(new SharedArrayBuffer(Math.max(leastBytes, BLOCK_BYTES)));
  }

  giveBack(block: Uint8Array): void {
    if (block.length === BLOCK_BYTES) this.#free.push(block);
  }

  /** Lets go of those that nobody uses. */
  clear(): void {
    this.#free = [];
  }
}
