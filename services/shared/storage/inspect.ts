import type { PageCheck, StoreInspection } from "./inspection.ts";
import { fileOf, type OpenStoreOptions } from "./open.ts";

export interface InspectOptions extends Pick<OpenStoreOptions, "service" | "dataDir" | "mongodbUrl"> {
  readonly pages: PageCheck;
}

/** Looks at a store beside the processes that use it, and changes nothing. Undefined where there is none. */
export async function inspectStore(options: InspectOptions): Promise<StoreInspection | undefined> {
  const { dataDir, mongodbUrl, pages, service } = options;
  if (mongodbUrl !== undefined) {
    const { inspectMongo } = await import("./mongodb/inspect.ts");
    return inspectMongo({ service, url: mongodbUrl });
  }
  const { inspectSqlite } = await import("./sqlite/inspect.ts");
  return inspectSqlite(fileOf(service, dataDir), pages);
}
