/**
 * node:http2 of Deno 2.9.6 frees a session inside the callback for a received GOAWAY frame and then goes on reading
 * it, and mostly dies of it (github.com/denoland/deno/issues/36788): a peer that restarts would take us with it, and so
 * would a client that says goodbye. So on Deno every connection passes through a stream that gives GOAWAY frames a
 * type that nobody knows, which HTTP/2 obliges everyone to ignore (RFC 9113 §4.1). Nothing is lost that matters: who sends
 * GOAWAY refuses new streams by name and closes the connection when the old ones are done. Nothing here is used
 * on Node. To be removed when Deno is repaired.
 */
export const NEEDS_GOAWAY_MASK = process.versions.deno !== undefined;

/** What a client sends before its first frame (RFC 9113 §3.4). */
export const CLIENT_PREFACE_BYTES = 24;

const HEADER_BYTES = 9;
const TYPE_AT = 3;
const GOAWAY = 0x7;
const UNKNOWN_TYPE = 0xfa;

/**
 * A function that gets the received bytes of one HTTP/2 connection, chunk by chunk in any cut, and changes the type of
 * every GOAWAY in place. `skipBytes` stand before the first frame.
 */
export function createGoawayMask(skipBytes: number): (chunk: Uint8Array) => void {
  /** Bytes until the next frame header. */
  let skip = skipBytes;
  /** How much of a header has been seen, and the payload's length that it tells. */
  let headerAt = 0;
  let length = 0;

  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (skip > 0) {
        const skipped = Math.min(skip, chunk.length - at);
        skip -= skipped;
        at += skipped;
        continue;
      }
      if (headerAt < TYPE_AT) length = length * 256 + (chunk[at] as number);
      else if (headerAt === TYPE_AT && chunk[at] === GOAWAY) chunk[at] = UNKNOWN_TYPE;
      at++;
      headerAt++;
      if (headerAt === HEADER_BYTES) {
        skip = length;
        headerAt = 0;
        length = 0;
      }
    }
  };
}
