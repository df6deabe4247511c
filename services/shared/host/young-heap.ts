import { setFlagsFromString } from "node:v8";

/**
 * Lets the part of the heap where objects are young grow to its limit (--max-semi-space-size) at once, here and in
 * threads started later. V8 grows it by what survives; in a process that has megabytes of answers and rows in hand from
 * its first second on, that much is copied about for nothing: a fifteenth of a backfill's CPU, and no memory that the
 * process would not come to take.
 */
export function growYoungHeapAtOnce(): void {
  if ("Deno" in globalThis) return;
  setFlagsFromString("--semi-space-growth-factor=32");
  setFlagsFromString("--min-semi-space-size=32");
}

/**
 * Bounds that part of the heap in threads started from now on, whatever the process was given: two large ones are a
 * quarter of a small container's memory.
 */
export function limitYoungHeapOfThreads(megabytes: number): void {
  if ("Deno" in globalThis) return;
  setFlagsFromString(`--max-semi-space-size=${megabytes}`);
}
