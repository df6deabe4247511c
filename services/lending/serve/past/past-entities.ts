import type { TimeSlices } from "../../../shared/process/time-slices.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { EntityMap } from "../../protocols/entity-map.ts";
import { PRICE_ORACLE } from "../../protocols/price-oracles/state.ts";
import type { EntitySet } from "../../protocols/protocol.ts";
import { entities, entityHistory } from "../../store/collections.ts";
import { fromStateText } from "../../store/state-text.ts";
import type { HourEnd } from "./hour-end.ts";

/** Looked up at once: MongoDB answers each by a query of its own. */
const PAGE = 200;

/** The entities of some kinds with their states at the end of an hour; those that were found later are left out. */
export async function readPastEntities(
  store: Store,
  {
    chainId,
    kinds,
    end,
    slices,
  }: { chainId: number; kinds: readonly string[]; end: HourEnd; slices: TimeSlices },
): Promise<EntitySet> {
  const found = new EntityMap();
  const known = await store.find(entities, {
    filter: { chainId, kind: { in: kinds } },
    fields: ["kind", "id"],
  });
  for (let from = 0; from < known.length; from += PAGE) {
    const keys = known
      .slice(from, from + PAGE)
      .map(({ kind, id }) => ({ chainId, kind, id, hour: end.hour }));
    for (const { block, id, kind, state, time } of await store.getLast(entityHistory, keys)) {
      // Oracles are read at every head: an unchanged state is as young as the block.
      const read = kind === PRICE_ORACLE ? { block: end.block, time: end.time } : { block, time };
      found.put({ kind, id, state: fromStateText(state), ...read });
      if (slices.due()) await slices.pause();
    }
  }
  return found;
}
