import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { MEMORY, type SqliteOptions } from "../open-connection.ts";
import { BLOCK_BYTES } from "./blocks.ts";

/**
 * Blocks of rows that wait, in a file without a name: nothing is left of it once the process ends. All threads of Node read it by its
 * descriptor. Where it cannot be written, blocks stay in memory.
 */
export class SpillFile {
  readonly #path: string;
  #descriptor: number | undefined;
  #isBroken = false;
  /** Places for a block, and those that nobody uses. */
  #places = 0;
  #free: number[] = [];

  /** @param path of a file that does not exist, in an existing folder */
  constructor(path: string) {
    this.#path = path;
  }

  /** Undefined before the first block. */
  get descriptor(): number | undefined {
    return this.#descriptor;
  }

  /** Returns where the first bytes of a block are from now on; undefined where they could not be written. */
  write(block: Uint8Array, bytes: number): number | undefined {
    if (this.#isBroken) return undefined;
    const place = this.#free.pop() ?? this.#places++;
    try {
      this.#descriptor ??= openUnnamed(this.#path);
      writeAll(this.#descriptor, block.subarray(0, bytes), place * BLOCK_BYTES);
      return place;
    } catch {
      // A full disk: the index's own write will say so.
      this.#isBroken = true;
      this.#free.push(place);
      return undefined;
    }
  }

  giveBack(place: number): void {
    this.#free.push(place);
  }

  /** Ends the file where nobody uses it. */
  clear(): void {
    if (this.#free.length === this.#places) this.close();
  }

  /** Ends it: what it has can no longer be read. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    this.#places = 0;
    this.#free = [];
    this.#isBroken = false;
  }
}

/**
 * For the rows of a store: none where they would be in memory all the same, nobody writes, or a thread cannot read a file by
 * another one's descriptor (Deno).
 */
export function openSpill({
  path,
  readOnly = false,
}: Pick<SqliteOptions, "path" | "readOnly">): SpillFile | undefined {
  const isUsed = path !== MEMORY && !readOnly && !("Deno" in globalThis);
  return isUsed ? new SpillFile(`${path}-rows-${process.pid}-${randomUUID()}`) : undefined;
}

/** @throws Error where the file is shorter. */
export function readBlock(descriptor: number, { place, into }: { place: number; into: Uint8Array }): void {
  for (let read = 0; read < into.length; ) {
    const more = readSync(descriptor, into, read, into.length - read, place * BLOCK_BYTES + read);
    if (more === 0) throw new Error("The file of rows that wait is shorter than it was written.");
    read += more;
  }
}

function openUnnamed(path: string): number {
  const descriptor = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  return descriptor;
}

function writeAll(descriptor: number, bytes: Uint8Array, at: number): void {
  for (let written = 0; written < bytes.length; )
    written += writeSync(descriptor, bytes, written, bytes.length - written, at + written);
}
