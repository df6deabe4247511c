import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createGzip, gzipSync } from "node:zlib";
import type { Random } from "../random.ts";
import type { PortalFault } from "./faults.ts";

/** Text written to gzip at once. */
const FLUSH_CHARACTERS = 64 * 1024;
/** Most lines before an answer is cut. */
const CUT_LINES = 60;

export interface SentLines {
  readonly lines: AsyncGenerator<string>;
  readonly fault: PortalFault | undefined;
  readonly random: Random;
  /** The next multiple of compression's cost is not worth it on one machine. */
  readonly level?: number;
}

/** Writes lines as a gzip body, or as what the fault makes of one. The head of the response is set by then. */
export async function sendLines(response: ServerResponse, { lines, fault, random, level = 1 }: SentLines) {
  if (fault === undefined) return sendWhole(response, lines, level);
  const kept: string[] = [];
  const count = 1 + random.below(CUT_LINES);
  for await (const line of lines) {
    kept.push(line);
    if (kept.length >= count) break;
  }
  if (fault === "cut") return void response.end(gzipSync(textOf(kept)));
  if (fault === "cutLine") {
    const last = kept.pop() ?? "";
    // Never all of it: a whole line without its end is a whole line.
    const part = last.slice(0, Math.max(1, Math.floor(random.next() * (last.length - 1))));
    return void response.end(gzipSync(textOf(kept) + part));
  }
  const whole = gzipSync(textOf(kept));
  const part = whole.subarray(0, Math.max(1, Math.floor(whole.length * (0.2 + 0.75 * random.next()))));
  if (fault === "truncatedGzip") return void response.end(part);
  await new Promise<void>((resolve) => response.write(part, () => resolve()));
  if (fault === "resetBody") response.socket?.resetAndDestroy();
}

async function sendWhole(response: ServerResponse, lines: AsyncGenerator<string>, level: number) {
  const gzip = createGzip({ level });
  gzip.pipe(response);
  const closed = new Promise((resolve) => response.once("close", resolve));
  let text = "";
  for await (const line of lines) {
    text += `${line}\n`;
    if (text.length < FLUSH_CHARACTERS) continue;
    if (!gzip.write(text)) await Promise.race([once(gzip, "drain"), closed]);
    text = "";
    if (response.destroyed) return;
  }
  gzip.end(text);
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
