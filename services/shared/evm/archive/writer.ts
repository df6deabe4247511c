import type { FileHandle } from "node:fs/promises";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

export interface ArchiveWriterOptions {
  readonly folder: string;
  /** Default 200: some 10 MB of a busy chain. */
  readonly blocksPerFile?: number;
  /** Of gzip; default 6. */
  readonly level?: number;
}

const DEFAULT_BLOCKS = 200;
/** Text packed at once: a gzip file may be a row of packed parts. */
const PART_CHARACTERS = 4 * 1024 * 1024;
const pack = promisify(gzip);

/**
 * Writes recorded blocks, in order, as files `<first>-<last>.jsonl.gz`. A file has its name only once it is whole: what a
 * kill leaves behind is a `.part`, which no reader takes.
 */
export class ArchiveWriter {
  readonly #folder: string;
  readonly #blocksPerFile: number;
  readonly #level: number;
  #file: FileHandle | undefined;
  #text: string[] = [];
  #length = 0;
  #first = 0;
  #last = -1;
  #blocks = 0;
  #bytes = 0;

  constructor({ folder, blocksPerFile = DEFAULT_BLOCKS, level = 6 }: ArchiveWriterOptions) {
    this.#folder = folder;
    this.#blocksPerFile = blocksPerFile;
    this.#level = level;
  }

  /** Packed bytes in files so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Makes the folder. */
  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
  }

  /** Adds the line of a block, without its end. Blocks must ascend. */
  async add(number: number, line: string): Promise<void> {
    if (number <= this.#last) throw new RangeError(`Cannot add block ${number} after block ${this.#last}`);
    if (this.#blocks === 0) this.#first = number;
    this.#last = number;
    this.#blocks += 1;
    this.#text.push(line, "\n");
    this.#length += line.length + 1;
    if (this.#length >= PART_CHARACTERS) await this.#flush();
    if (this.#blocks >= this.#blocksPerFile) await this.#finish();
  }

  /** Finishes the last file. */
  async close(): Promise<void> {
    if (this.#blocks > 0) await this.#finish();
  }

  /** Drops what was not finished. */
  async abort(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
    await rm(this.#partPath, { force: true });
  }

  get #partPath(): string {
    return join(this.#folder, "current.part");
  }

  async #flush(): Promise<void> {
    this.#file ??= await open(this.#partPath, "w");
    const packed = await pack(this.#text.join(""), { level: this.#level });
    await this.#file.writeFile(packed);
    this.#bytes += packed.length;
    this.#text = [];
    this.#length = 0;
  }

  async #finish(): Promise<void> {
    await this.#flush();
    await this.#file?.sync();
    await this.#file?.close();
    this.#file = undefined;
    await rename(this.#partPath, join(this.#folder, archiveName(this.#first, this.#last)));
    this.#blocks = 0;
  }
}

/** Padded: files sort by their names as by their blocks. */
export function archiveName(first: number, last: number): string {
  const padded = (number: number) => String(number).padStart(10, "0");
  return `${padded(first)}-${padded(last)}.jsonl.gz`;
}
