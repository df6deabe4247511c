import type { Response } from "express";

/** Header lines: names and values in turn. No value may hold a line break. */
export function toLines(headers: readonly string[]): string {
  let lines = "";
  for (let at = 0; at < headers.length; at += 2) lines += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return lines;
}

/** Headers that are the same for all answers of a host: names and values in turn, and as lines. */
export interface FixedHeaders {
  readonly raw: readonly string[];
  readonly lines: string;
}

export function fixHeaders(raw: readonly string[]): FixedHeaders {
  // Flattened, since it is copied into every answer.
  return { raw, lines: Buffer.from(toLines(raw), "latin1").toString("latin1") };
}

/** Headers of one answer that are written at once. */
export class HeaderList {
  readonly #fixed: FixedHeaders;
  readonly #own: string[] = [];

  constructor(fixed: FixedHeaders) {
    this.#fixed = fixed;
  }

  setHeader(name: string, value: string): void {
    this.#own.push(name, value);
  }

  /** These headers behind those that are given: names and values in turn, as writeHead takes them. */
  after(first: readonly string[]): string[] {
    return first.concat(this.#fixed.raw, this.#own);
  }

  /** All of them as lines. */
  lines(): string {
    return this.#fixed.lines + toLines(this.#own);
  }

  /** Sets them on a response that is put together header by header. */
  setOn(res: Response): void {
    for (const list of [this.#fixed.raw, this.#own]) {
      for (let at = 0; at < list.length; at += 2) res.setHeader(list[at] as string, list[at + 1] as string);
    }
  }
}
