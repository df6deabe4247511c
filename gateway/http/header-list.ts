import type { Response } from "express";

/** Headers of one answer that are written at once: names and values in turn, as writeHead takes them. */
export class HeaderList {
  readonly #base: readonly string[];
  readonly #own: string[] = [];

  /** `base` is shared by all answers of a host. */
  constructor(base: readonly string[]) {
    this.#base = base;
  }

  setHeader(name: string, value: string): void {
    this.#own.push(name, value);
  }

  /** These headers behind those that are given. */
  after(first: readonly string[]): string[] {
    return first.concat(this.#base, this.#own);
  }

  /** Sets them on a response that is put together header by header. */
  setOn(res: Response): void {
    for (const list of [this.#base, this.#own]) {
      for (let at = 0; at < list.length; at += 2) res.setHeader(list[at] as string, list[at + 1] as string);
    }
  }
}
