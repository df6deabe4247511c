import { hasData } from "../../shared/index/evm/checkpoint.ts";
import type { ChainReadings } from "../../shared/ingest-status/chain-readings.ts";
import type { ServiceAppOptions } from "../../shared/service/service-app.ts";
import type { Store } from "../../shared/storage/port.ts";
import { getCheckpoint } from "../store/queries.ts";
import type { Serving } from "./serving.ts";

/** The 503 for a chain whose markets and vaults were never read, or whose rows are not built yet. */
export function createWhyNoData(
  store: Store,
  {
    dataVersion,
    readings,
  }: Pick<Serving, "dataVersion"> & { readonly readings: Pick<ChainReadings, "missingDataError"> },
): NonNullable<ServiceAppOptions["missingDataError"]> {
  return async (endpoint, { params, isAbsent }) => {
    const { chain_id } = params;
    if (typeof chain_id !== "number") return undefined;
    if (isAbsent && dataVersion(endpoint, params) !== undefined) return undefined;
    return readings.missingDataError(chain_id, hasData(await getCheckpoint(store, chain_id)));
  };
}
