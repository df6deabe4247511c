/** A file of recorded lines: each packed by itself, and at the end of the file what they are. */
import { closeSync, fstatSync, openSync, readSync, renameSync, writeFileSync } from "node:fs";
import { blockNumberOf } from "../../../services/shared/evm/archive/files.ts";
import { GZIP_HEAD, gzipTail, packPart } from "./gzip-parts.ts";
import type { Question } from "./question.ts";

/** Read from a file at once. */
const CHUNK_BYTES = 256 * 1024;
const LENGTH_BYTES = 4;
const LINE_END = 10;

export type Headers = Readonly<Record<string, string>>;

/** The line of a block. */
export interface Part {
  readonly number: number;
  /** Packed. */
  readonly bytes: number;
  readonly size: number;
  readonly crc: number;
}

/** What a file says of itself at its end, before the length of this. */
export interface Contents {
  readonly question: Question;
  readonly headers: Headers;
  readonly parts: readonly Part[];
}

export interface RecordingFile extends Contents {
  readonly path: string;
  /** Of the whole file. */
  readonly bytes: number;
}

export interface PlacedPart {
  readonly path: string;
  readonly part: Part;
  /** Where it begins in the file. */
  readonly at: number;
}

/** Packs the lines of blocks that `isWanted`, of the text of an answer. Throws where it is cut within a line. */
export function packLines(
  text: Buffer,
  isWanted: (number: number) => boolean,
): { parts: Part[]; packed: Buffer[] } {
  const parts: Part[] = [];
  const packed: Buffer[] = [];
  for (let [start, line] = [0, 1]; start < text.length; line++) {
    const end = text.indexOf(LINE_END, start) + 1;
    if (end === 0) throw new Error(`Line ${line} has no end.`);
    const bytes = text.subarray(start, end);
    start = end;
    const number = blockNumberOf(bytes.toString(), { path: "answer", line });
    if (!isWanted(number)) continue;
    const { packed: part, ...sums } = packPart(bytes);
    packed.push(part);
    parts.push({ number, bytes: part.length, ...sums });
  }
  return { parts, packed };
}

/** The file has its name only once it is whole. */
export function writeRecording(path: string, contents: Contents, packed: readonly Buffer[]): RecordingFile {
  const end = Buffer.from(JSON.stringify(contents));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(end.length);
  const file = Buffer.concat([...packed, end, length]);
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, file);
  renameSync(temporary, path);
  return { ...contents, path, bytes: file.length };
}

/** Throws for a file that is none. */
export function readRecording(path: string): RecordingFile {
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
    return { ...contents, path, bytes };
  } finally {
    closeSync(file);
  }
}

/** The gzip body of these lines. Throws where a file is gone or too short; to end early closes what is open. */
export function* readBody(places: readonly PlacedPart[]): Generator<Buffer> {
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
function joinPlaces(places: readonly PlacedPart[]): { path: string; at: number; end: number }[] {
  const joined: { path: string; at: number; end: number }[] = [];
  for (const { path, part, at } of places) {
    const last = joined.at(-1);
    if (last?.path === path && last.end === at) last.end += part.bytes;
    else joined.push({ path, at, end: at + part.bytes });
  }
  return joined;
}
