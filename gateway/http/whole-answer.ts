import type { GoodAnswer } from "../passage.ts";
import { compress, type Encoding, MIN_COMPRESSED_BYTES } from "./encoding.ts";

/** A table that is here as a whole, in each content coding that somebody asked for. */
export class WholeAnswer implements GoodAnswer {
  readonly headers: GoodAnswer["headers"];
  readonly body: Buffer;
  readonly etag: string | undefined;
  /** Told when more is held than before. */
  onGrowth: () => void = () => {};
  readonly #encoded: Map<Encoding, Buffer>;
  readonly #underway = new Map<Encoding, Promise<Buffer>>();
  readonly #raw = new Map<Encoding | undefined, readonly string[]>();

  /** `known` holds the same body: what was made of it is shared. */
  constructor({ headers, body }: GoodAnswer, known?: WholeAnswer) {
    this.headers = headers;
    this.etag = headers.etag;
    this.body = body;
    this.#encoded = known === undefined ? new Map() : known.#encoded;
  }

  /** Whether it is worth compressing; then its bytes depend on Accept-Encoding. */
  get isCompressible(): boolean {
    return this.body.length >= MIN_COMPRESSED_BYTES;
  }

  /** Bytes held: the body and what was made of it. */
  get heldBytes(): number {
    let bytes = this.body.length;
    for (const encoded of this.#encoded.values()) bytes += encoded.length;
    return bytes;
  }

  /** The body in a coding, made once however many ask for it. */
  encode(encoding: Encoding | undefined): Buffer | Promise<Buffer> {
    if (encoding === undefined) return this.body;
    const ready = this.#encoded.get(encoding);
    if (ready !== undefined) return ready;
    let making = this.#underway.get(encoding);
    if (making === undefined) {
      making = this.#make(encoding);
      this.#underway.set(encoding, making);
    }
    return making;
  }

  async #make(encoding: Encoding): Promise<Buffer> {
    try {
      const made = await compress(this.body, encoding);
      this.#encoded.set(encoding, made);
      this.onGrowth();
      return made;
    } finally {
      this.#underway.delete(encoding);
    }
  }

  /** Names and values of the headers that the body in a coding has, as writeHead takes them. */
  rawHeaders(encoding: Encoding | undefined, length: number): readonly string[] {
    let raw = this.#raw.get(encoding);
    if (raw === undefined) {
      const more = ["Content-Length", String(length)];
      if (encoding !== undefined) more.push("Content-Encoding", encoding);
      raw = layOut(this.headers, { isCompressible: this.isCompressible }).concat(more);
      this.#raw.set(encoding, raw);
    }
    return raw;
  }

  /** Those of 304, which tells of no body. */
  notModifiedHeaders(): string[] {
    const { "content-type": _type, ...headers } = this.headers;
    return layOut(headers, { isCompressible: this.isCompressible });
  }
}

/** Headers as they are written. What may be compressed differs by Accept-Encoding, and says so even where it is not. */
export function layOut(
  headers: GoodAnswer["headers"],
  { isCompressible }: { readonly isCompressible: boolean },
): string[] {
  const raw: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    // Compressed, an answer has other bytes: only a weak tag may stand for all of them.
    if (name === "etag") raw.push("ETag", value.startsWith("W/") ? value : `W/${value}`);
    else if (name !== "vary") raw.push(displayName(name), value);
  }
  const vary = [headers.vary, isCompressible ? "Accept-Encoding" : undefined].filter(Boolean);
  if (vary.length > 0) raw.push("Vary", vary.join(", "));
  return raw;
}

/** "x-data-block" as "X-Data-Block"; nothing but the look of it. */
function displayName(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letters) => letters.toUpperCase());
}
