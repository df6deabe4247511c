import type { CompleteResponse } from "../../request/context.ts";
import { compress, type Encoding, MIN_COMPRESSED_BYTES } from "../../request/encoding.ts";
import { toLines } from "../../request/header-list.ts";
import { memoizeHeaderName } from "../../request/known-names.ts";
import { toOwnMemory } from "./own-memory.ts";

/** The body in one coding: bytes once they are made, and the headers it is sent with. */
interface Form {
  bytes: Buffer | undefined;
  making: Promise<Buffer> | undefined;
}

/** A table that is here as a whole, in each content coding that somebody asked for. */
export class EncodableResponse implements CompleteResponse {
  readonly headers: CompleteResponse["headers"];
  #body: Buffer;
  readonly etag: string | undefined;
  /** Told when more is held than before. */
  onGrowth: (() => void) | undefined;
  /** By coding; most answers are asked for in none. */
  #forms: Map<Encoding, Form> | undefined;
  #plainLines: string | undefined;
  #codedLines: Map<Encoding, string> | undefined;

  /** `known` holds the same body: what was made of it is shared. */
  constructor({ headers, body }: CompleteResponse, known?: EncodableResponse) {
    this.headers = headers;
    this.etag = headers.etag;
    this.#body = body;
    this.#forms = known === undefined ? undefined : known.#forms;
  }

  get body(): Buffer {
    return this.#body;
  }

  /** Before it is kept: from here on it holds no more memory than it says. */
  settle(): void {
    this.#body = toOwnMemory(this.#body);
  }

  /** Whether it is worth compressing; then its bytes depend on Accept-Encoding. */
  get isCompressible(): boolean {
    return this.body.length >= MIN_COMPRESSED_BYTES;
  }

  /** Bytes held: the body and what was made of it. */
  get heldBytes(): number {
    let bytes = this.body.length;
    if (this.#forms !== undefined) for (const form of this.#forms.values()) bytes += form.bytes?.length ?? 0;
    return bytes;
  }

  /** The body in a coding, made once however many ask for it. */
  encode(encoding: Encoding | undefined): Buffer | Promise<Buffer> {
    if (encoding === undefined) return this.body;
    this.#forms ??= new Map();
    let form = this.#forms.get(encoding);
    if (form === undefined) {
      form = { bytes: undefined, making: undefined };
      this.#forms.set(encoding, form);
    }
    if (form.bytes !== undefined) return form.bytes;
    form.making ??= this.#make(form, encoding);
    return form.making;
  }

  async #make(form: Form, encoding: Encoding): Promise<Buffer> {
    try {
      const made = toOwnMemory(await compress(this.body, encoding));
      form.bytes = made;
      this.onGrowth?.();
      return made;
    } finally {
      form.making = undefined;
    }
  }

  /** Names and values of the headers that the body in a coding has, as writeHead takes them. */
  rawHeaders(encoding: Encoding | undefined, length: number): string[] {
    const raw = layOut(this.headers, { isCompressible: this.isCompressible });
    raw.push("Content-Length", String(length));
    if (encoding !== undefined) raw.push("Content-Encoding", encoding);
    return raw;
  }

  /** The same as lines, made once however many ask. */
  headerLines(encoding: Encoding | undefined, length: number): string {
    if (encoding === undefined) {
      this.#plainLines ??= toLines(this.rawHeaders(encoding, length));
      return this.#plainLines;
    }
    this.#codedLines ??= new Map();
    let lines = this.#codedLines.get(encoding);
    if (lines === undefined) {
      lines = toLines(this.rawHeaders(encoding, length));
      this.#codedLines.set(encoding, lines);
    }
    return lines;
  }

  /** Those of 304, which tells of no body. */
  notModifiedHeaders(): string[] {
    const { "content-type": _type, ...headers } = this.headers;
    return layOut(headers, { isCompressible: this.isCompressible });
  }
}

/** Headers as they are written. What may be compressed differs by Accept-Encoding, and says so even where it is not. */
export function layOut(
  headers: CompleteResponse["headers"],
  { isCompressible }: { readonly isCompressible: boolean },
): string[] {
  const raw: string[] = [];
  for (const name in headers) {
    const value = headers[name] as string;
    // Compressed, an answer has other bytes: only a weak tag may stand for all of them.
    if (name === "etag") raw.push("ETag", value.startsWith("W/") ? value : `W/${value}`);
    else if (name !== "vary") raw.push(displayName(name), value);
  }
  const vary = [headers.vary, isCompressible ? "Accept-Encoding" : undefined].filter(Boolean);
  if (vary.length > 0) raw.push("Vary", vary.join(", "));
  return raw;
}

/** "x-data-block" as "X-Data-Block"; nothing but the look of it. */
const displayName = memoizeHeaderName((name) =>
  name.replace(/(^|-)[a-z]/g, (letters) => letters.toUpperCase()),
);
