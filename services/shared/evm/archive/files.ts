import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";

/** One file of a folder of recorded blocks: JSON lines, plain or gzip. */
export interface ArchiveFile {
  readonly path: string;
  /** The number of its first block. */
  readonly first: number;
}

/** A folder, a file or a line is not what a recording holds; names file and line. */
export class ArchiveError extends Error {
  override readonly name = "ArchiveError";
}

const IS_ARCHIVE = /\.jsonl(\.gz)?$/;
/** A line of 64 MB is no block: a broken file must not fill the memory. */
const MAX_LINE = 64 * 1024 * 1024;

/** The files of a folder in the order of their blocks; files without a line are left out. Throws ArchiveError. */
export async function listArchiveFiles(folder: string): Promise<ArchiveFile[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw new ArchiveError(`Cannot read ${folder}: ${error instanceof Error ? error.message : error}`);
  });
  const files: ArchiveFile[] = [];
  for (const name of names.filter((each) => IS_ARCHIVE.test(each))) {
    const path = join(folder, name);
    for await (const { text, line } of readArchiveLines(path)) {
      files.push({ path, first: blockNumberOf(text, { path, line }) });
      break;
    }
  }
  return files.sort((a, b) => a.first - b.first);
}

export interface ArchiveLine {
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

/** The lines of a file, without empty ones. Throws ArchiveError where the file cannot be read to its end. */
export async function* readArchiveLines(path: string): AsyncGenerator<ArchiveLine> {
  const file = createReadStream(path, { highWaterMark: 256 * 1024 });
  const input: Readable = path.endsWith(".gz") ? file.pipe(createGunzip()) : file;
  // An error of the file would else not reach the reader of the unpacked text.
  file.on("error", (error) => input.destroy(error));
  input.setEncoding("utf8");
  let rest = "";
  let line = 0;
  try {
    for await (const chunk of input) {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() as string;
      if (rest.length > MAX_LINE)
        throw new Error(`line ${line + parts.length + 1} is over ${MAX_LINE} bytes long`);
      for (const text of parts) {
        line += 1;
        if (text !== "") yield { text, line };
      }
    }
    if (rest !== "") yield { text: rest, line: line + 1 };
  } catch (error) {
    throw new ArchiveError(`Cannot read ${path}: ${error instanceof Error ? error.message : error}`);
  } finally {
    input.destroy();
    file.destroy();
  }
}

const NUMBER_FIRST = /^\{"header":\{"number":(\d+)[,}]/;

/** The block of a line; the whole line is parsed only where its number does not come first. Throws ArchiveError. */
export function blockNumberOf(text: string, at: { path: string; line: number }): number {
  const quick = NUMBER_FIRST.exec(text);
  if (quick !== null) return Number(quick[1]);
  const { header } = parseLine(text, at);
  const number = (header as { number?: unknown } | undefined)?.number;
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 0)
    throw new ArchiveError(`${at.path}, line ${at.line}: it has no header.number`);
  return number;
}

/** Throws ArchiveError where the line is no JSON object. */
export function parseLine(
  text: string,
  at: { path: string; line: number },
): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ArchiveError(`${at.path}, line ${at.line}: ${error instanceof Error ? error.message : error}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new ArchiveError(`${at.path}, line ${at.line}: it is no JSON object`);
  return value as Readonly<Record<string, unknown>>;
}
