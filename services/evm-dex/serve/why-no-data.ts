import { hasData } from "../../shared/index/evm/checkpoint.ts";
import type { ChainReadings } from "../../shared/ingest-status/chain-readings.ts";
import type { ServiceAppOptions } from "../../shared/service/service-app.ts";
import type { Store } from "../../shared/storage/port.ts";
import { chains, dexes } from "../contract.ts";
import { getCheckpoint } from "../store/queries.ts";

/** Tables of the deployments: they need no chain. */
const WITHOUT_CHAIN: ReadonlySet<string> = new Set([chains.path, dexes.path]);

/** The 503 response for tables of a chain without an indexed block. */
export function createWhyNoData(
  store: Store,
  readings: Pick<ChainReadings, "missingDataError">,
): NonNullable<ServiceAppOptions["missingDataError"]> {
  return async ({ path }, { params: { chain_id }, isAbsent }) => {
    if (WITHOUT_CHAIN.has(path) || typeof chain_id !== "number") return undefined;
    const isRead = hasData(await getCheckpoint(store, chain_id));
    return isRead && isAbsent ? undefined : readings.missingDataError(chain_id, isRead);
  };
}
