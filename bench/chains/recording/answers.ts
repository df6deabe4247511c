/**
 * The answers of a portal, in a folder: each file has lines of blocks, packed one by one, and at its end where they are.
 * What a query of every block brought answers any range of it: a client does not cut a chain in the same places twice.
 */
import {
  closeSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { blockNumberOf } from "../../../services/shared/evm/archive/files.ts";
import { GZIP_HEAD, gzipTail, packPart } from "./gzip-parts.ts";
import type { Question } from "./question.ts";

const unpack = promisify(gunzip);
/** Read from a file at once. */
const CHUNK_BYTES = 256 * 1024;
const LENGTH_BYTES = 4;
const LINE_END = 10;
/** A file that is still called so after this time was left behind by a process that ended. */
const TEMPORARY_MS = 10 * 60_000;

export type Headers = Readonly<Record<string, string>>;

interface Part {
  readonly number: number;
  readonly bytes: number;
  readonly size: number;
  readonly crc: number;
}

/** What a file says of itself at its end, before the length of this. */
interface Contents {
  readonly question: Question;
  readonly headers: Headers;
  readonly parts: readonly Part[];
}

interface Recording extends Contents {
  readonly path: string;
  /** Of the whole file. */
  readonly bytes: number;
  /** By this process. */
  isUsed: boolean;
}

interface Place {
  readonly recording: Recording;
  readonly part: Part;
  readonly at: number;
}

export interface RecordedAnswer {
  readonly headers: Headers;
  /** The body. Throws where a file is gone; to end early closes what is open. */
  chunks(): Generator<Buffer>;
}

export class Answers {
  readonly #folder: string;
  readonly #recordings = new Set<Recording>();
  /** By key, then by block. */
  readonly #places = new Map<string, Map<number, Place>>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** With what earlier processes recorded there. */
  static async open(folder: string): Promise<Answers> {
    await mkdir(folder, { recursive: true });
    const answers = new Answers(folder);
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      if (name.endsWith(".answer")) answers.#add({ ...readContents(path), path, isUsed: false });
      else if (Date.now() - (await stat(path)).mtimeMs > TEMPORARY_MS) rmSync(path);
    }
    return answers;
  }

  /** Undefined where a block of it was not recorded. */
  find({ key, from, to, isWhole }: Question): RecordedAnswer | undefined {
    const known = this.#places.get(key);
    if (known === undefined) return undefined;
    const places: Place[] = [];
    if (isWhole)
      for (let number = from; number <= to; number++) {
        const place = known.get(number);
        if (place === undefined) return undefined;
        places.push(place);
      }
    else places.push(...known.values());
    const recordings = new Set(places.map(({ recording }) => recording));
    for (const recording of recordings) {
      recording.isUsed = true;
      // Another process may have replaced it.
      if (statSync(recording.path, { throwIfNoEntry: false })?.size === recording.bytes) continue;
      this.#forget(recording);
      return undefined;
    }
    return { headers: (places[0] as Place).recording.headers, chunks: () => chunksOf(places) };
  }

  /**
   * Keeps the gzip body of a whole answer: what is not there yet of it. Recordings of the same blocks in other words go,
   * unless this process has used them: they are of a client that asked otherwise. Throws where it cannot be written.
   */
  async keep(question: Question, headers: Headers, body: Buffer): Promise<void> {
    const lines = splitLines(await unpack(body));
    const known = this.#places.get(question.key);
    const parts: Part[] = [];
    const packed: Buffer[] = [];
    for (const line of lines) {
      const number = blockNumberOf(line.toString(), { path: this.#folder, line: parts.length });
      if (known?.has(number)) continue;
      const { packed: bytes, ...sums } = packPart(line);
      packed.push(bytes);
      parts.push({ number, bytes: bytes.length, ...sums });
    }
    if (parts.length === 0) return;
    const contents: Contents = { question, headers, parts };
    const end = Buffer.from(JSON.stringify(contents));
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32LE(end.length);
    const file = Buffer.concat([...packed, end, length]);
    const name = `${String(parts[0]?.number).padStart(10, "0")}-${parts.length}-${question.key}`;
    const path = join(this.#folder, `${name}.answer`);
    const temporary = join(this.#folder, `${name}.${process.pid}.tmp`);
    writeFileSync(temporary, file);
    renameSync(temporary, path);
    this.#add({ ...contents, path, bytes: file.length, isUsed: true });
    this.#removeOutdated(question);
  }

  #add(recording: Recording): void {
    const { question, parts } = recording;
    this.#recordings.add(recording);
    const places = this.#places.get(question.key) ?? new Map<number, Place>();
    this.#places.set(question.key, places);
    let at = 0;
    for (const part of parts) {
      places.set(part.number, { recording, part, at });
      at += part.bytes;
    }
  }

  #forget(recording: Recording): void {
    this.#recordings.delete(recording);
    const places = this.#places.get(recording.question.key);
    for (const { number } of recording.parts)
      if (places?.get(number)?.recording === recording) places.delete(number);
    if (places?.size === 0) this.#places.delete(recording.question.key);
  }

  #removeOutdated({ key, from, to, isWhole }: Question): void {
    for (const recording of [...this.#recordings]) {
      const other = recording.question;
      const isOther = !recording.isUsed && other.key !== key && other.isWhole === isWhole;
      if (!isOther || other.from > to || other.to < from) continue;
      this.#forget(recording);
      rmSync(recording.path, { force: true });
    }
  }
}

/** Of a file that is whole, as it has its name only then. */
function readContents(path: string): Contents & { readonly bytes: number } {
  const file = openSync(path, "r");
  try {
    const { size: bytes } = fstatSync(file);
    const read = (length: number, at: number) => {
      const part = Buffer.alloc(length);
      readSync(file, part, 0, length, at);
      return part;
    };
    const length = read(LENGTH_BYTES, bytes - LENGTH_BYTES).readUInt32LE();
    const contents: Contents = JSON.parse(read(length, bytes - LENGTH_BYTES - length).toString());
    return { ...contents, bytes };
  } finally {
    closeSync(file);
  }
}

/** A line each, with its end. */
function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LINE_END, start);
    if (end < 0) throw new Error("The last line of an answer has no end.");
    lines.push(bytes.subarray(start, end + 1));
    start = end + 1;
  }
  return lines;
}

function* chunksOf(places: readonly Place[]): Generator<Buffer> {
  yield GZIP_HEAD;
  for (const { path, at, end } of joinPlaces(places)) {
    const file = openSync(path, "r");
    try {
      for (let next = at; next < end; ) {
        const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - next));
        const read = readSync(file, chunk, 0, chunk.length, next);
        if (read === 0) throw new Error(`${path} ends before byte ${end}.`);
        yield chunk.subarray(0, read);
        next += read;
      }
    } finally {
      closeSync(file);
    }
  }
  yield gzipTail(places.map(({ part }) => part));
}

/** Stretches of files: what follows on each other is one. */
function joinPlaces(places: readonly Place[]): { path: string; at: number; end: number }[] {
  const joined: { path: string; at: number; end: number }[] = [];
  for (const { recording, part, at } of places) {
    const last = joined.at(-1);
    if (last?.path === recording.path && last.end === at) last.end += part.bytes;
    else joined.push({ path: recording.path, at, end: at + part.bytes });
  }
  return joined;
}
