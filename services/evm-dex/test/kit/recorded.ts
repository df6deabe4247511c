import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Context } from "mocha";

/** Beside the repository: whole blocks of Ethereum and Base with receipts. */
const RECORDED = new URL("../../../../../shared/data/chainstorage-blocks/", import.meta.url);

/** Reads the recorded blocks with a matching file name; skips the suite with a reason where they are absent. */
export function readRecorded<B>(running: Context, fits: (name: string) => boolean = () => true): B[] {
  if (!existsSync(RECORDED)) {
    console.log("      pending: the recorded blocks are not beside the repository");
    running.skip();
  }
  return readdirSync(RECORDED)
    .filter((name) => name.endsWith(".json") && fits(name))
    .map((name) => JSON.parse(readFileSync(new URL(name, RECORDED), "utf8")));
}
