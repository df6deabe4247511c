import { BadHttp } from "./errors.ts";
import type { Framing } from "./response-parser.ts";

/** Takes the bytes of a body out of what a connection receives. */
export interface BodyReader {
  /**
   * Hands every piece of the body in `chunk` to `emit`. Answers what stands behind the body's end (often nothing), or
   * undefined while the body goes on. Throws BadHttp.
   */
  read(chunk: Buffer, emit: (piece: Buffer) => void): Buffer | undefined;
}

const NOTHING = Buffer.alloc(0);

export function createBodyReader(framing: Framing): BodyReader {
  if (framing.kind === "length") return readLength(framing.bytes);
  return framing.kind === "chunked" ? readChunks() : { read: (chunk) => chunk };
}

function readLength(bytes: number): BodyReader {
  let left = bytes;
  return {
    read(chunk, emit) {
      if (chunk.length < left) {
        if (chunk.length > 0) emit(chunk);
        left -= chunk.length;
        return undefined;
      }
      if (left > 0) emit(chunk.length === left ? chunk : chunk.subarray(0, left));
      const rest = chunk.length === left ? NOTHING : chunk.subarray(left);
      left = 0;
      return rest;
    },
  };
}

/** Longer than any size with the extensions that anybody sends. */
const MAX_LINE = 256;

/** RFC 9112 §7.1. Extensions and trailers are read and dropped. */
function readChunks(): BodyReader {
  let state: "size" | "data" | "data-end" | "trailer" = "size";
  let line = "";
  let left = 0;

  /** A whole line without its end, once it is there; `at` moves behind it. */
  const takeLine = (chunk: Buffer, at: number): { text: string | undefined; at: number } => {
    const end = chunk.indexOf(10, at);
    line += chunk.toString("latin1", at, end === -1 ? chunk.length : end);
    if (line.length > MAX_LINE) throw new BadHttp("A chunk's line is too long");
    if (end === -1) return { text: undefined, at: chunk.length };
    if (!line.endsWith("\r")) throw new BadHttp("A chunk's line ends without a carriage return");
    const text = line.slice(0, -1);
    line = "";
    return { text, at: end + 1 };
  };

  const onLine = (text: string): boolean => {
    if (state === "data-end") {
      if (text !== "") throw new BadHttp("A chunk is longer than it says");
      state = "size";
      return false;
    }
    if (state === "trailer") return text === "";
    const size = /^([0-9A-Fa-f]{1,8})[ \t]*(?:;|$)/.exec(text)?.[1];
    if (size === undefined) throw new BadHttp("A chunk has no size");
    left = Number.parseInt(size, 16);
    state = left === 0 ? "trailer" : "data";
    return false;
  };

  return {
    read(chunk, emit) {
      let at = 0;
      while (at < chunk.length) {
        if (state === "data") {
          const end = Math.min(chunk.length, at + left);
          emit(chunk.subarray(at, end));
          left -= end - at;
          at = end;
          if (left === 0) state = "data-end";
          continue;
        }
        const { text, at: next } = takeLine(chunk, at);
        at = next;
        if (text !== undefined && onLine(text)) return chunk.subarray(at);
      }
      return undefined;
    },
  };
}
