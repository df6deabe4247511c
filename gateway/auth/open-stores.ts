import { openStore } from "../../services/shared/storage/open.ts";
import type { StoreConfig } from "../config.ts";
import type { Clock } from "../request/clock.ts";
import { openKeyStore } from "./keys/key-store.ts";
import type { AuthStores } from "./lazy-directory.ts";
import { openUsageStore } from "./usage/usage-store.ts";

/** Opens the gateway's own store, which the gateway and the keys command share. */
export async function openAuthStores(
  { mongodbUrl, dataDir }: StoreConfig,
  clock: Clock,
): Promise<AuthStores> {
  const store = await openStore({
    service: "gateway",
    dataDir,
    ...(mongodbUrl !== undefined && { mongodbUrl }),
  });
  try {
    const keys = await openKeyStore(store, clock);
    return { keys, usage: await openUsageStore(store), close: () => store.close() };
  } catch (error) {
    await store.close();
    throw error;
  }
}
