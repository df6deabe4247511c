import { larger } from "./larger-array.ts";

const FIRST_CAPACITY = 256;

/**
 * Integers that are forgotten and written again at every block. An array that is emptied gives up its room, and grows
 * again step by step, each of which is garbage.
 */
export class IntList {
  items = new Int32Array(FIRST_CAPACITY);
  count = 0;

  push(item: number): void {
    if (this.count === this.items.length) this.items = larger(this.items, new Int32Array(2 * this.count));
    this.items[this.count++] = item;
  }

  append(other: IntList): void {
    for (let i = 0; i < other.count; i++) this.push(other.items[i] as number);
  }

  clear(): void {
    this.count = 0;
  }
}
