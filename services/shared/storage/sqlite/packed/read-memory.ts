/**
 * A thread's memory for blocks that it reads from a file, used again and again: what each write let go of would count as memory
 * until the collector comes, which it seldom does in a thread that writes.
 */
import { ROWS_A_CALL } from "../rows.ts";
import { BLOCK_BYTES } from "./blocks.ts";

const free: Uint8Array[] = [];
/** Blocks whose last rows a call may still hold, and after how many rows it holds none of them. */
const left: { readonly blocks: readonly Uint8Array[]; readonly until: number }[] = [];
/** Rows that the thread has read. */
let rows = 0;

export function noteRow(): void {
  rows += 1;
}

export function lend(): Uint8Array {
  while (left[0] !== undefined && left[0].until <= rows) free.push(...(left.shift()?.blocks ?? []));
  return free.pop() ?? new Uint8Array(BLOCK_BYTES);
}

/** To be called when the last of their rows was read. */
export function leave(blocks: readonly Uint8Array[]): void {
  if (blocks.length > 0) left.push({ blocks, until: rows + ROWS_A_CALL });
}
