import { existsSync } from "node:fs";
import { join } from "node:path";
import { type IndexPart, reindexes } from "../../services/shared/ingest/reindex.ts";
import type { Environment } from "../../services/shared/settings/settings.ts";
import { locateStore } from "../../services/shared/settings/store-location.ts";
import type { Collection } from "../../services/shared/storage/collection.ts";
import { compileCollection } from "../../services/shared/storage/declaration.ts";
import { openStore } from "../../services/shared/storage/open.ts";
import type { Store } from "../../services/shared/storage/port.ts";
import { vacuumSqlite } from "../../services/shared/storage/sqlite/vacuum.ts";
import type { ServiceIndex } from "./indexes.ts";

/** Where the services of an installation keep their data. */
export interface StorePlace {
  readonly dataDir: string;
  readonly mongodbUrl: string | undefined;
  /** What a person should know of the choice, in one sentence. */
  readonly note: string | undefined;
}

/** Throws ConfigError. */
export function findPlace(env: Environment): StorePlace {
  const { dataDir, mongodbUrl, note } = locateStore(env);
  return { dataDir, mongodbUrl, note };
}

/** The store of a service, as it was found. */
export interface OpenedStore {
  readonly store: Store;
  /** What there is of the index, as it is stored. */
  readonly index: ServiceIndex;
  /** Whether this version declares a collection of it in another way. */
  readonly isOfOtherVersion: boolean;
  /** For people; without credentials. */
  readonly name: string;
  /** Gives the space of deleted rows back, where the engine does not by itself; returns how many bytes. */
  reclaim(): Promise<number>;
}

/** Opens a service's store; undefined where it does not exist. */
export async function openIndexStore(
  { dataDir, mongodbUrl }: StorePlace,
  declared: ServiceIndex,
): Promise<OpenedStore | undefined> {
  const { service } = declared;
  const path = join(dataDir, `${service}.sqlite`);
  if (mongodbUrl === undefined && !existsSync(path)) return undefined;
  const store = await openStore({ service, dataDir, ...(mongodbUrl !== undefined && { mongodbUrl }) });
  const found = await findStored(store, declared);
  await store.declare([reindexes]);
  if (mongodbUrl === undefined) return { store, ...found, name: path, reclaim: () => vacuumSqlite(path) };
  // WiredTiger uses the space again for the next rows.
  const name = `MongoDB database chaintables_${service.replaceAll("-", "_")}`;
  return { store, ...found, name, reclaim: async () => 0 };
}

/** The index as any version has stored it: what this one cannot extend is what has to be deleted. */
async function findStored(
  store: Store,
  declared: ServiceIndex,
): Promise<Pick<OpenedStore, "index" | "isOfOtherVersion">> {
  const stored = new Map((await store.openStored()).map((each) => [each.name, each]));
  const isDeclared = ({ collection }: IndexPart) => {
    const before = stored.get(collection.name);
    return before === undefined || fingerprintOf(before) === fingerprintOf(collection);
  };
  const parts = declared.parts.flatMap(({ collection, filter }) => {
    const before = stored.get(collection.name);
    return before === undefined ? [] : [{ collection: before, filter }];
  });
  return { index: { ...declared, parts }, isOfOtherVersion: !declared.parts.every(isDeclared) };
}

const fingerprintOf = (collection: Collection) => compileCollection(collection).fingerprint;
