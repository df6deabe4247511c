import { openStore } from "../../../services/shared/storage/open.ts";
import type { StoreConfig } from "../../config.ts";
import type { OpenedLedger } from "./lazy-ledger.ts";
import { type LedgerOptions, openLedger } from "./ledger.ts";

/** Opens the ledger in the gateway's own store, which the gateway and the payments command share. */
export async function openStoredLedger(
  { mongodbUrl, dataDir }: StoreConfig,
  options: LedgerOptions,
): Promise<OpenedLedger> {
  const store = await openStore({
    service: "gateway",
    dataDir,
    ...(mongodbUrl !== undefined && { mongodbUrl }),
  });
  try {
    return { ledger: await openLedger(store, options), close: () => store.close() };
  } catch (error) {
    await store.close();
    throw error;
  }
}
