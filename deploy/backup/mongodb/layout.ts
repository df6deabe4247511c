import type { Db } from "mongodb";
import { databaseOf } from "../../../services/shared/storage/open.ts";
import { STORE_NAMES } from "../../../services/shared/storage/stores.ts";

/** Each has a database of its own. */
export const DATABASES: readonly string[] = STORE_NAMES.map(databaseOf);

/**
 * A file of a backup, in the form of mongodump --gzip: documents one after the other as BSON, and what the collection's
 * indexes are. So mongorestore reads ours.
 */
export const FILE = /^(chaintables_[a-z_]+)\/([A-Za-z0-9_]{1,60})\.(bson|metadata\.json)\.gz$/;

/** Times of the cluster that was backed up: they mean nothing in another. */
const LEFT_OUT = /^(_snapshots$|system\.)/;

/** The collections of a database, those last that make it a store: a copy that is cut short is none. */
export async function listCollections(db: Db): Promise<string[]> {
  const all = await db.listCollections({}, { nameOnly: true }).toArray();
  return all
    .map(({ name }) => name)
    .filter((name) => !LEFT_OUT.test(name))
    .sort(compareForWriting);
}

const LAST: readonly string[] = ["checkpoints", "_collections"];

export function compareForWriting(a: string, b: string): number {
  return LAST.indexOf(a) - LAST.indexOf(b) || (a < b ? -1 : 1);
}
