/** The rows of a segment in memory that threads share, outside of the heap. */
export interface Segment {
  /** By cell: its number, the length of its text, or where its bytes are: those that are the same as before are there once. */
  readonly numbers: Float64Array;
  readonly kinds: Uint8Array;
  /** By row: where its texts begin, in characters; after the last row, where they end. */
  readonly starts: Uint32Array;
  /** All texts, one after the other. */
  text: Uint8Array;
  /** Bytes of a character. */
  characterBytes: 1 | 2;
  /** The bytes of hex, each after its length. */
  bytes: Uint8Array;
}

export const SEGMENT_ROWS = 1_024;
/** Room for what is longer than before. */
const ROOM = 1.25;
const FIRST_BYTES = 32_768;
/** A longer length follows in four bytes. */
const LONG = 255;

export function emptySegment(width: number): Segment {
  const cells = width * SEGMENT_ROWS;
  // Widest elements first: each view begins at a multiple of their size.
  const bytes = new SharedArrayBuffer(9 * cells + 4 * (SEGMENT_ROWS + 1));
  return {
    numbers: new Float64Array(bytes, 0, cells),
    starts: new Uint32Array(bytes, 8 * cells, SEGMENT_ROWS + 1),
    kinds: new Uint8Array(bytes, 8 * cells + 4 * (SEGMENT_ROWS + 1), cells),
    text: new Uint8Array(new SharedArrayBuffer(0)),
    characterBytes: 1,
    bytes: new Uint8Array(new SharedArrayBuffer(0)),
  };
}

/** Replaces the texts. */
export function writeText(segment: Segment, text: string, characterBytes: 1 | 2): void {
  const bytes = characterBytes * text.length;
  if (segment.text.length < bytes)
    segment.text = new Uint8Array(new SharedArrayBuffer(Math.ceil(ROOM * bytes)));
  segment.characterBytes = characterBytes;
  asBuffer(segment.text).write(text, encodingOf(segment));
}

/** Makes room for bytes at a place and writes their length; returns where they begin. */
export function openBytes(segment: Segment, at: number, length: number): number {
  const from = at + (length < LONG ? 1 : 5);
  if (from + length > segment.bytes.length) {
    const { bytes } = segment;
    const size = Math.max(FIRST_BYTES, Math.ceil(ROOM * (from + length)));
    segment.bytes = new Uint8Array(new SharedArrayBuffer(size));
    segment.bytes.set(bytes);
  }
  segment.bytes[at] = Math.min(length, LONG);
  if (length >= LONG) asBuffer(segment.bytes).writeUInt32LE(length, at + 1);
  return from;
}

export function readBytes({ bytes }: Segment, at: number): Uint8Array {
  const length = bytes[at] as number;
  if (length < LONG) return bytes.subarray(at + 1, at + 1 + length);
  return bytes.subarray(at + 5, at + 5 + asBuffer(bytes).readUInt32LE(at + 1));
}

export function encodingOf({ characterBytes }: Segment): "utf16le" | "latin1" {
  return characterBytes === 2 ? "utf16le" : "latin1";
}

export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
