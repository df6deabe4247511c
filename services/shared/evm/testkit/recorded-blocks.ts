import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Context } from "mocha";
import type { Hex } from "../port.ts";

/** Beside the repository: whole blocks of Ethereum and Base with receipts. */
const RECORDED = new URL("../../../../../shared/data/chainstorage-blocks/", import.meta.url);

export interface RecordedBlock {
  readonly source: string;
  /** As eth_getBlockByNumber has it, with every field of the header. */
  readonly block: Readonly<Record<string, unknown>> & { readonly hash: Hex; readonly receiptsRoot: Hex };
  readonly receipts: readonly (Readonly<Record<string, unknown>> & { readonly logs: readonly unknown[] })[];
}

/** The recorded blocks with whole headers; skips the suite with a reason where they are absent. */
export function readRecordedBlocks(running: Context): RecordedBlock[] {
  if (!existsSync(RECORDED)) {
    console.log("      pending: the recorded blocks are not beside the repository");
    running.skip();
  }
  return readdirSync(RECORDED)
    .filter((name) => name.includes("raw") && name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(new URL(name, RECORDED), "utf8")));
}
