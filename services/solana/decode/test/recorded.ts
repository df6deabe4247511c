/** Recorded mainnet transactions beside the repository, in the shape that blocks have. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Context } from "mocha";
import type { SolanaTransaction } from "../../chain/port.ts";
import { readBase64Transaction } from "./base64-transaction.ts";
import { toJsonShape } from "./json-parsed.ts";

const RECORDED = new URL("../../../../../shared/data/", import.meta.url);
const SETS = ["0xjeffro-tx-parser", "chainstack-pump", "metamask-snap-solana", "staketaxcsv-sol"];

export interface Recorded {
  /** Folder and file. */
  readonly file: string;
  readonly transaction: SolanaTransaction;
}

/** True if the recorded transactions are beside the repository. */
export function hasRecorded(): boolean {
  return existsSync(RECORDED);
}

/** Skips the suite, with the reason, if they are missing. */
export function needRecorded(running: Context): void {
  if (hasRecorded()) return;
  console.log("      pending: the recorded transactions are not beside the repository");
  running.skip();
}

/** All whole transactions; each file's content is what its source recorded, brought into one shape. */
export function readRecordedTransactions(): Recorded[] {
  return SETS.flatMap((set) =>
    readdirSync(new URL(`${set}/`, RECORDED))
      .filter((name) => name.endsWith(".json"))
      .map((name) => ({
        file: `${set}/${name}`,
        transaction: toTransaction(readJson(`${set}/${name}`)),
      })),
  );
}

/** Files of a folder of instruction fixtures whose name fits. */
export function readFixtures<F>(
  folder: string,
  fits: (name: string) => boolean,
): { name: string; fixture: F }[] {
  return readdirSync(new URL(`${folder}/`, RECORDED))
    .filter((name) => name.endsWith(".json") && fits(name))
    .map((name) => ({ name, fixture: readJson(`${folder}/${name}`) as F }));
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, RECORDED), "utf8"));
}

/** A list of one, a response of getTransaction, or the transaction itself; parsed, as base64 or in the shape wanted. */
function toTransaction(recorded: unknown): SolanaTransaction {
  if (Array.isArray(recorded)) return toTransaction(recorded[0]);
  if (typeof recorded !== "object" || recorded === null) return recorded as unknown as SolanaTransaction;
  if ("result" in recorded) return toTransaction(recorded.result);
  if ("transaction" in recorded && Array.isArray(recorded.transaction)) {
    return { ...recorded, transaction: readBase64Transaction(recorded.transaction[0]) } as SolanaTransaction;
  }
  return toJsonShape(recorded as unknown as SolanaTransaction);
}
