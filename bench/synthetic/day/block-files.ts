/**
 * The blocks of a synthetic day on disk, each by itself: who needs one reads no other. `blocks.bin` has of each block its
 * head (header and transactions) and its logs (a line each), `blocks.json` where they are, `logs.bin` of each log a
 * number: who emitted it, and its first topic.
 */
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import type { PortalBlock } from "../../../deploy/devnet/portal/block.ts";

export const FILES = { blocks: "blocks.bin", index: "blocks.json", logs: "logs.bin" };
/** The number of a log is its topic times this, and its address: places in the lists of the index. */
export const TOPIC_UNIT = 2 ** 24;

/** Hash, bytes of its head, bytes of its logs, count of its logs. They follow on each other from block 0. */
export type IndexedBlock = readonly [hash: string, headBytes: number, logBytes: number, logs: number];

export interface DayIndex {
  readonly blocks: readonly IndexedBlock[];
  readonly addresses: readonly string[];
  readonly topics: readonly string[];
}

/** Writes blocks from number 0 on. */
export class DayWriter {
  /** Packed. */
  bytes = 0;
  readonly #folder: string;
  readonly #file: number;
  readonly #blocks: IndexedBlock[] = [];
  readonly #addresses = new Map<unknown, number>();
  readonly #topics = new Map<unknown, number>();
  readonly #logs: Buffer[] = [];

  constructor(folder: string) {
    this.#folder = folder;
    this.#file = openSync(join(folder, FILES.blocks), "w");
  }

  add({ header, transactions, logs }: PortalBlock): void {
    const head = pack(JSON.stringify({ header, transactions }));
    const lines = pack(logs.map((log) => JSON.stringify(log)).join("\n"));
    for (const part of [head, lines]) writeSync(this.#file, part);
    this.bytes += head.length + lines.length;
    this.#blocks.push([header.hash, head.length, lines.length, logs.length]);
    const numbers = Uint32Array.from(
      logs,
      ({ address, topics }) =>
        placeOf(this.#topics, (topics as readonly string[])[0]) * TOPIC_UNIT +
        placeOf(this.#addresses, address),
    );
    this.#logs.push(Buffer.from(numbers.buffer));
  }

  close(): void {
    closeSync(this.#file);
    writeFileSync(join(this.#folder, FILES.logs), Buffer.concat(this.#logs));
    const [addresses, topics] = [[...this.#addresses.keys()], [...this.#topics.keys()]] as string[][];
    writeFileSync(
      join(this.#folder, FILES.index),
      JSON.stringify({ blocks: this.#blocks, addresses, topics }),
    );
  }
}

function pack(text: string): Buffer {
  return deflateRawSync(text, { level: 1 });
}

function placeOf(places: Map<unknown, number>, name: unknown): number {
  const known = places.get(name);
  if (known !== undefined) return known;
  places.set(name, places.size);
  return places.size - 1;
}
