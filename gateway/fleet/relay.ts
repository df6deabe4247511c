import { fstatSync } from "node:fs";
import type { Readable } from "node:stream";
import { writeFully } from "../../services/shared/logging/line-writer.ts";

/** Whether a descriptor is a pipe or a socket, to which several processes cannot write at once without mixing lines. */
export function isPiped(descriptor: number): boolean {
  const stat = fstatSync(descriptor);
  return stat.isFIFO() || stat.isSocket();
}

const NEWLINE = 10;

/** Writes what comes in to `write`, whole lines at a time; an unfinished last one at the end. */
export function relayLines(
  stream: Readable,
  write: (bytes: Buffer) => unknown = (bytes) => writeFully(1, bytes),
): void {
  let begun: Buffer[] = [];
  const flush = (): void => {
    if (begun.length > 0) write(begun.length === 1 ? (begun[0] as Buffer) : Buffer.concat(begun));
    begun = [];
  };
  stream.on("data", (chunk: Buffer) => {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      begun.push(chunk);
      return;
    }
    begun.push(chunk.subarray(0, end));
    flush();
    if (end < chunk.length) begun.push(chunk.subarray(end));
  });
  stream.on("end", flush);
}
