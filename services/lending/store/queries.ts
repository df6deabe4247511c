import type { Filter, Store } from "../../shared/storage/port.ts";
import { type CheckpointRow, checkpoints, type UnitRow, units } from "./collections.ts";

/** An SQLite store lets nothing else run while it reads a page. */
const UNITS_A_PAGE = 200;

export function getCheckpoint(store: Store, chainId: number): Promise<CheckpointRow | undefined> {
  return store.get(checkpoints, { chainId });
}

/** What serving needs of a unit. */
const READ_FIELDS = ["kind", "id", "version", "block", "time", "state"] as const;
export type ReadUnit = Pick<UnitRow, (typeof READ_FIELDS)[number]>;

/**
 * Units of a version above `after`, page by page in the order (version, kind, id). One that is written meanwhile comes
 * at its new place, which is further on: none is passed over.
 */
export async function* listUnits(
  store: Store,
  { chainId, after, pageSize = UNITS_A_PAGE }: { chainId: number; after: number; pageSize?: number },
): AsyncGenerator<ReadUnit[]> {
  let filters: Filter<UnitRow>[] = [{ version: { gt: after } }];
  for (let filter = filters.shift(); filter !== undefined; filter = filters.shift()) {
    const page = await store.find(units, {
      filter: { chainId, ...filter },
      order: [{ field: "version", direction: "asc" }],
      limit: pageSize,
      fields: READ_FIELDS,
      via: ["chainId", "version"],
    });
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (page.length < pageSize || last === undefined) continue;
    // All that comes after the page's last one, in three stretches that the index has one behind the other.
    const { version, kind, id } = last;
    filters = [
      { version, kind, id: { gt: id } },
      { version, kind: { gt: kind } },
      { version: { gt: version } },
    ];
  }
}
