/**
 * The answers of a portal, in a folder. What a query of every block brought answers any range of it: a client does not
 * cut a chain in the same places twice.
 */
import { rmSync, statSync, utimesSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Question } from "./question.ts";
import {
  type Headers,
  type PlacedPart,
  packLines,
  type RecordingFile,
  readBody,
  readRecording,
  writeRecording,
} from "./recording-file.ts";

const unpack = promisify(gunzip);
/** A file that is still called so after this time was left behind by a process that ended. */
const TEMPORARY_MS = 10 * 60_000;

/** So long nobody has asked for what goes. Two clients that ask in different words may be compared in turns. */
const UNUSED_MS = 3_600_000;

interface Recording {
  readonly file: RecordingFile;
  /** By this process; the time of the file tells others. */
  isUsed: boolean;
}

interface Place extends PlacedPart {
  readonly recording: Recording;
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
      if (name.endsWith(".answer")) answers.#load(path);
      else if (ageOf(path) > TEMPORARY_MS) rmSync(path, { force: true });
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
      if (isThere(recording)) continue;
      this.#forget(recording);
      return undefined;
    }
    return { headers: (places[0] as Place).recording.file.headers, chunks: () => readBody(places) };
  }

  /**
   * Keeps the gzip body of a whole answer: what is not there yet of it. Recordings of the same blocks in other words go if
   * no process has used them for an hour: they are of a client that asked otherwise. Throws where it cannot be written.
   */
  async keep(question: Question, headers: Headers, body: Buffer): Promise<void> {
    const text = await unpack(body);
    // Nothing else runs from here on: no other answer keeps the same blocks meanwhile.
    const known = this.#places.get(question.key);
    const { parts, packed } = packLines(text, (number) => known?.has(number) !== true);
    const [first] = parts;
    if (first === undefined) return;
    const name = `${String(first.number).padStart(10, "0")}-${parts.length}-${question.key}.answer`;
    const file = writeRecording(join(this.#folder, name), { question, headers, parts }, packed);
    this.#add({ file, isUsed: true });
    this.#removeOutdated(question);
  }

  #load(path: string): void {
    try {
      this.#add({ file: readRecording(path), isUsed: false });
    } catch {
      // Gone meanwhile, or broken by a machine that went down: it is made again.
      rmSync(path, { force: true });
    }
  }

  #add(recording: Recording): void {
    const { path, question, parts } = recording.file;
    this.#recordings.add(recording);
    const places = this.#places.get(question.key) ?? new Map<number, Place>();
    this.#places.set(question.key, places);
    let at = 0;
    for (const part of parts) {
      places.set(part.number, { path, recording, part, at });
      at += part.bytes;
    }
  }

  #forget(recording: Recording): void {
    this.#recordings.delete(recording);
    const { question, parts } = recording.file;
    const places = this.#places.get(question.key);
    for (const { number } of parts) if (places?.get(number)?.recording === recording) places.delete(number);
    if (places?.size === 0) this.#places.delete(question.key);
  }

  #removeOutdated({ key, from, to, isWhole }: Question): void {
    for (const recording of [...this.#recordings]) {
      const { path, question: other } = recording.file;
      const isOther = other.key !== key && other.isWhole === isWhole;
      if (!isOther || other.from > to || other.to < from || ageOf(path) < UNUSED_MS) continue;
      this.#forget(recording);
      rmSync(path, { force: true });
    }
  }
}

/** Another process may have removed or replaced it. */
function isThere(recording: Recording): boolean {
  const { path, bytes } = recording.file;
  if (statSync(path, { throwIfNoEntry: false })?.size !== bytes) return false;
  if (!recording.isUsed) utimesSync(path, new Date(), new Date());
  recording.isUsed = true;
  return true;
}

/** Since it was written or used; endless where it is gone. */
function ageOf(path: string): number {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY);
}
