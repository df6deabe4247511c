import type { Filter, Store } from "../../shared/storage/port.ts";
import { type CheckpointRow, checkpoints, type EntityRow, entities } from "./collections.ts";

/** The SQLite store blocks the event loop while it reads a page. */
const ENTITIES_PER_PAGE = 200;

export function getCheckpoint(store: Store, chainId: number): Promise<CheckpointRow | undefined> {
  return store.get(checkpoints, { chainId });
}

/** The fields that serving needs. */
const READ_FIELDS = ["kind", "id", "version", "block", "time", "state"] as const;
export type StoredEntity = Pick<EntityRow, (typeof READ_FIELDS)[number]>;

/**
 * Entities of a version above `after`, in pages ordered by (version, kind, id). An entity that is written meanwhile moves
 * towards the end: none is missed.
 */
export async function* listEntities(
  store: Store,
  { chainId, after, pageSize = ENTITIES_PER_PAGE }: { chainId: number; after: number; pageSize?: number },
): AsyncGenerator<StoredEntity[]> {
  let filters: Filter<EntityRow>[] = [{ version: { gt: after } }];
  for (let filter = filters.shift(); filter !== undefined; filter = filters.shift()) {
    const page = await store.find(entities, {
      filter: { chainId, ...filter },
      order: [{ field: "version", direction: "asc" }],
      limit: pageSize,
      fields: READ_FIELDS,
      via: ["chainId", "version"],
    });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (page.length < pageSize || last === undefined) continue;
    // Everything after the page's last row, as three consecutive ranges of the index.
    const { version, kind, id } = last;
    filters = [
      { version, kind, id: { gt: id } },
      { version, kind: { gt: kind } },
      { version: { gt: version } },
    ];
  }
}
