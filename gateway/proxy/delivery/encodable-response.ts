import { FORMAT_MEDIA_TYPES } from "../../../services/shared/contract/format.ts";
import type { CompleteResponse } from "../../request/context.ts";
import { compress, type Encoding, MIN_COMPRESSED_BYTES } from "../../request/encoding.ts";
import { memoizeHeaderName, toLines } from "../../request/response-head.ts";

/** The body in one content encoding, or on its way there. */
interface EncodedBody {
  bytes: Buffer | undefined;
  pending: Promise<Buffer> | undefined;
}

/** A complete table, in each content encoding that a client has accepted. */
export class EncodableResponse implements CompleteResponse {
  readonly headers: CompleteResponse["headers"];
  readonly etag: string | undefined;
  /** Called when more memory is held than before. */
  onGrowth: (() => void) | undefined;
  #body: Buffer;
  /** Most tables are requested without any. */
  #encoded: Map<Encoding, EncodedBody> | undefined;
  #identityLines: string | undefined;
  #encodedLines: Map<Encoding, string> | undefined;

  /** `previous` has the same body: its encodings are shared. */
  constructor({ headers, body }: CompleteResponse, previous?: EncodableResponse) {
    this.headers = headers;
    this.etag = headers.etag;
    this.#body = body;
    this.#encoded = previous === undefined ? undefined : previous.#encoded;
  }

  get body(): Buffer {
    return this.#body;
  }

  /** To be called before it is cached: from here on it holds no more memory than `heldBytes`. */
  compact(): void {
    this.#body = toOwnMemory(this.#body);
  }

  /** Whether compression is worth its cost; then the bytes depend on Accept-Encoding. */
  get isCompressible(): boolean {
    return this.#body.length >= MIN_COMPRESSED_BYTES && !isCompressed(this.headers);
  }

  /** Bytes of the body and its encodings. */
  get heldBytes(): number {
    let bytes = this.#body.length;
    if (this.#encoded !== undefined)
      for (const body of this.#encoded.values()) bytes += body.bytes?.length ?? 0;
    return bytes;
  }

  /** The body in an encoding, compressed once for all clients. */
  encode(encoding: Encoding | undefined): Buffer | Promise<Buffer> {
    if (encoding === undefined) return this.#body;
    this.#encoded ??= new Map();
    let body = this.#encoded.get(encoding);
    if (body === undefined) {
      body = { bytes: undefined, pending: undefined };
      this.#encoded.set(encoding, body);
    }
    if (body.bytes !== undefined) return body.bytes;
    body.pending ??= this.#compress(body, encoding);
    return body.pending;
  }

  async #compress(body: EncodedBody, encoding: Encoding): Promise<Buffer> {
    try {
      const bytes = toOwnMemory(await compress(this.#body, encoding));
      body.bytes = bytes;
      this.onGrowth?.();
      return bytes;
    } finally {
      body.pending = undefined;
    }
  }

  /** Names and values of the headers for an encoding, as writeHead takes them. */
  rawHeaders(encoding: Encoding | undefined, length: number): string[] {
    const raw = toRawHeaders(this.headers, { isCompressible: this.isCompressible });
    raw.push("Content-Length", String(length));
    if (encoding !== undefined) raw.push("Content-Encoding", encoding);
    return raw;
  }

  /** The same as lines, rendered once for all clients. */
  headerLines(encoding: Encoding | undefined, length: number): string {
    if (encoding === undefined) {
      this.#identityLines ??= toLines(this.rawHeaders(encoding, length));
      return this.#identityLines;
    }
    this.#encodedLines ??= new Map();
    let lines = this.#encodedLines.get(encoding);
    if (lines === undefined) {
      lines = toLines(this.rawHeaders(encoding, length));
      this.#encodedLines.set(encoding, lines);
    }
    return lines;
  }

  /** The headers of a 304, which has no body to describe. */
  notModifiedHeaders(): string[] {
    const { "content-type": _type, ...headers } = this.headers;
    return toRawHeaders(headers, { isCompressible: this.isCompressible });
  }
}

/** Parquet is: to compress it again costs more than it saves. */
export function isCompressed(headers: CompleteResponse["headers"]): boolean {
  return headers["content-type"] === FORMAT_MEDIA_TYPES.parquet;
}

/** Headers as writeHead takes them. A body that may be compressed varies by Accept-Encoding, even where it is not. */
export function toRawHeaders(
  headers: CompleteResponse["headers"],
  { isCompressible }: { readonly isCompressible: boolean },
): string[] {
  const raw: string[] = [];
  for (const name in headers) {
    const value = headers[name] as string;
    // A compressed body has other bytes: only a weak tag may stand for all encodings.
    if (name === "etag") raw.push("ETag", value.startsWith("W/") ? value : `W/${value}`);
    else if (name !== "vary") raw.push(displayName(name), value);
  }
  const vary = [headers.vary, isCompressible ? "Accept-Encoding" : undefined].filter(Boolean);
  if (vary.length > 0) raw.push("Vary", vary.join(", "));
  return raw;
}

/** "x-data-block" as "X-Data-Block". */
const displayName = memoizeHeaderName((name) =>
  name.replace(/(^|-)[a-z]/g, (letters) => letters.toUpperCase()),
);

/**
 * The same bytes in memory of their own, unless they fill most of their buffer. A slice of a shared buffer (one for
 * several small bodies, zlib's of 16 KB) keeps all of it alive.
 */
function toOwnMemory(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength <= 2 * bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
