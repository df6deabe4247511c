import { hasData } from "../../shared/index/evm/checkpoint.ts";
import type { Readings } from "../../shared/ingest-status/serve-readings.ts";
import type { ServiceAppOptions } from "../../shared/service/service-app.ts";
import type { Store } from "../../shared/storage/port.ts";
import { chains, dexes } from "../contract.ts";
import { getCheckpoint } from "../store/queries.ts";

/** Tables of what is deployed: they are known without reading a chain. */
const WITHOUT_CHAIN: ReadonlySet<string> = new Set([chains.path, dexes.path]);

/** The 503 of a table of a chain of which no block is indexed. */
export function createWhyNoData(
  store: Store,
  readings: Pick<Readings, "refusal">,
): NonNullable<ServiceAppOptions["whyNoData"]> {
  return async ({ path }, { params: { chain_id }, isAbsent }) => {
    if (WITHOUT_CHAIN.has(path) || typeof chain_id !== "number") return undefined;
    const isRead = hasData(await getCheckpoint(store, chain_id));
    return isRead && isAbsent ? undefined : readings.refusal(chain_id, isRead);
  };
}
