/**
 * node:http2 of Deno 2.9.6 frees a session inside the callback for a received GOAWAY frame and then goes on reading
 * it, and mostly crashes (github.com/denoland/deno/issues/36788): a restart of a peer would crash this process, and so would a
 * client that disconnects. So on Deno every connection passes through a stream that gives GOAWAY frames an unknown
 * type, which HTTP/2 requires receivers to ignore (RFC 9113 §4.1). Nothing important is lost: the sender of GOAWAY
 * rejects new streams by itself and closes the connection when the old ones are done. Not used on Node. Remove it when
 * Deno is fixed.
 */
export const NEEDS_GOAWAY_MASK = process.versions.deno !== undefined;

/** Length of the client preface before the first frame (RFC 9113 §3.4). */
export const CLIENT_PREFACE_BYTES = 24;

const HEADER_BYTES = 9;
const TYPE_AT = 3;
const GOAWAY = 0x7;
const UNKNOWN_TYPE = 0xfa;

/**
 * A function that takes the received bytes of one HTTP/2 connection in chunks of any size, and changes the type of every
 * GOAWAY in place. `skipBytes` precede the first frame.
 */
export function createGoawayMask(skipBytes: number): (chunk: Uint8Array) => void {
  /** Bytes until the next frame header. */
  let skip = skipBytes;
  /** Bytes of the header so far, and the payload's length from it. */
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
