import { readServiceConfig, readSettings } from "../shared/host/config.ts";
import type { Environment } from "../shared/host/env.ts";
import { type RunningService, runService } from "../shared/host/run-service.ts";
import { openStore } from "../shared/storage/open.ts";
import { endpoints } from "./contract.ts";
import { loadDeployments } from "./deployments.ts";
import { createHandlers } from "./handlers.ts";
import { createPriceSource } from "./serve/prices.ts";
import { createStatus } from "./serve/status.ts";
import { COLLECTIONS } from "./store/collections.ts";

/** Starts the evm-dex service: its HTTP endpoints, and Prices, Status and health over gRPC. */
export async function startEvmDex(env: Environment): Promise<RunningService> {
  const settings = readSettings(env, ["DATA_DIR", "MONGODB_URL", "DEPLOYMENTS_FILE"]);
  const chains = loadDeployments(settings.DEPLOYMENTS_FILE);
  const store = await openStore({
    service: "evm-dex",
    dataDir: settings.DATA_DIR,
    ...(settings.MONGODB_URL !== undefined && { mongodbUrl: settings.MONGODB_URL }),
  });
  await store.declare(COLLECTIONS);
  const deps = { store, chains };
  return runService({
    name: "evm-dex",
    endpoints,
    handlers: createHandlers(deps),
    config: readServiceConfig("evm-dex", env),
    status: createStatus(deps),
    prices: createPriceSource(deps),
    onStop: () => store.close(),
  });
}
