import { existsSync, readFileSync } from "node:fs";
import { mkdir, open, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Rpc } from "./rpc.ts";

const TRACES = Buffer.from('"traces":[');
const [QUOTE, BACKSLASH, OPEN, CLOSE] = [...'"\\[]'].map((character) => character.charCodeAt(0));

/**
 * Empties every `"traces":[…]` of a JSON text that passes through. Call traces are nine tenths of a dump and nothing
 * here asks for them; blocks, receipts and logs do not depend on them.
 */
export function createTraceStripper(): Transform {
  let pending: Buffer = Buffer.alloc(0);
  let depth = 0;
  let inString = false;
  let escaped = false;

  function read(byte: number | undefined): void {
    if (escaped) escaped = false;
    else if (byte === QUOTE) inString = !inString;
    else if (inString) escaped = byte === BACKSLASH;
    else if (byte === OPEN) depth++;
    else if (byte === CLOSE) depth--;
  }

  /** Index after the closing bracket of the skipped list, or -1 when the chunk ends before it. */
  function skip(chunk: Buffer, start: number): number {
    for (let i = start; i < chunk.length; i++) {
      read(chunk[i]);
      if (depth === 0) return i + 1;
    }
    return -1;
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const text = pending.length > 0 ? Buffer.concat([pending, chunk]) : chunk;
      pending = Buffer.alloc(0);
      let at = 0;
      while (at < text.length) {
        if (depth > 0) {
          const end = skip(text, at);
          if (end < 0) break;
          this.push("]");
          at = end;
        }
        const found = text.indexOf(TRACES, at);
        if (found < 0) {
          // The end may hold the beginning of the next key.
          const keep = Math.max(at, text.length - TRACES.length + 1);
          if (keep > at) this.push(text.subarray(at, keep));
          pending = text.subarray(keep);
          break;
        }
        this.push(text.subarray(at, found + TRACES.length));
        depth = 1;
        at = found + TRACES.length;
      }
      done();
    },
    flush(done) {
      if (depth === 0 && pending.length > 0) this.push(pending);
      done(depth === 0 ? null : new Error("The dump ended inside a list of traces"));
    },
  });
}

function genesisFile(file: string): string {
  return `${file}.genesis`;
}

/**
 * Unix seconds of a saved chain's first block; undefined where they were not saved. A node makes a first block of its
 * own before it loads a chain, and dumps both: only if they are the same block does block 0 stay what it was.
 */
export function savedGenesisTime(file: string): number | undefined {
  const path = genesisFile(file);
  return existsSync(path) ? Number(readFileSync(path, "utf8")) : undefined;
}

/**
 * Writes the whole chain to `file`, in the form that anvil's --load-state reads, in one step: a temporary file, then a
 * rename, so that a kill at any moment leaves the old or the new file. The node answers nothing else meanwhile
 * (about 0.2 s per 1,000 transactions since its start).
 */
export async function saveState(rpc: Rpc, file: string): Promise<void> {
  const genesis = await rpc.call<{ timestamp: string }>("eth_getBlockByNumber", ["0x0", false]);
  const hex = await rpc.call<string>("anvil_dumpState");
  const compressed = Buffer.from(hex.slice(2), "hex");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(genesisFile(file), String(Number(genesis.timestamp)));
  const temporary = `${file}.${process.pid}.tmp`;
  const handle = await open(temporary, "w");
  try {
    const writeAll = async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) await handle.writeFile(chunk);
    };
    await pipeline(Readable.from([compressed]), createGunzip(), createTraceStripper(), writeAll);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}
