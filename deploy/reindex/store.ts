import { existsSync } from "node:fs";
import { join } from "node:path";
import { reindexes } from "../../services/shared/ingest/reindex.ts";
import type { Environment } from "../../services/shared/settings/settings.ts";
import { locateStore } from "../../services/shared/settings/store-location.ts";
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
  /** For people; without credentials. */
  readonly name: string;
  /** Gives the space of deleted rows back, where the engine does not by itself; returns how many bytes. */
  reclaim(): Promise<number>;
}

/** Opens a service's store; undefined where it does not exist. */
export async function openIndexStore(
  { dataDir, mongodbUrl }: StorePlace,
  { service, parts }: ServiceIndex,
): Promise<OpenedStore | undefined> {
  const path = join(dataDir, `${service}.sqlite`);
  if (mongodbUrl === undefined && !existsSync(path)) return undefined;
  const store = await openStore({ service, dataDir, ...(mongodbUrl !== undefined && { mongodbUrl }) });
  await store.declare([...parts.map(({ collection }) => collection), reindexes]);
  if (mongodbUrl === undefined) return { store, name: path, reclaim: () => vacuumSqlite(path) };
  // WiredTiger uses the space again for the next rows.
  const name = `MongoDB database chaintables_${service.replaceAll("-", "_")}`;
  return { store, name, reclaim: async () => 0 };
}
