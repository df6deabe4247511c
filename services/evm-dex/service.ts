import { openChainReadings } from "../shared/ingest-status/chain-readings.ts";
import { createLog } from "../shared/logging/log.ts";
import { createMetrics } from "../shared/metrics/metrics.ts";
import { type RunningService, runService } from "../shared/service/run-service.ts";
import type { Environment } from "../shared/settings/env.ts";
import { rejectMisspeltSettings } from "../shared/settings/misspelt-settings.ts";
import {
  collectConfigErrors,
  readNamedFile,
  readServiceConfig,
  readSettings,
} from "../shared/settings/settings.ts";
import { openStore } from "../shared/storage/open.ts";
import { readTracingConfig } from "../shared/tracing/config.ts";
import { openTracing } from "../shared/tracing/open.ts";
import { traceStore } from "../shared/tracing/store.ts";
import { endpoints } from "./contract.ts";
import { loadDeployments } from "./deployments.ts";
import { createHandlers } from "./handlers.ts";
import { findExampleScenes } from "./serve/example-scenes.ts";
import { openPoolReads } from "./serve/pool/pool-reads.ts";
import { createV2Tables } from "./serve/pool-list/v2-tables.ts";
import { createPriceSource } from "./serve/prices.ts";
import { RequestedWallets } from "./serve/provider/requested-wallets.ts";
import { createStatus } from "./serve/status.ts";
import { createWhyNoData } from "./serve/why-no-data.ts";
import { COLLECTIONS } from "./store/collections.ts";
import { SQLITE_FILE } from "./store/sqlite-file.ts";

/** Pages of large lists are spread over the file: memory-mapped reads take two thirds of the time. */
const MAPPED_BYTES = 2 ** 30;

/** Starts the evm-dex service: its HTTP endpoints, and Prices, Status and health over gRPC. */
export async function startEvmDex(env: Environment): Promise<RunningService> {
  const [settings, config, tracingConfig, chains] = collectConfigErrors(
    () => readSettings(env, ["DATA_DIR", "MONGODB_URL", "REDIS_URL"]),
    () => readServiceConfig("evm-dex", env),
    () => readTracingConfig(env, "evm-dex"),
    () => readNamedFile(env, { setting: "DEPLOYMENTS_FILE", load: loadDeployments }),
    () => rejectMisspeltSettings(env),
  );
  const log = createLog({ name: "evm-dex", level: config.logLevel });
  const metrics = createMetrics({ name: "evm-dex" });
  const tracing = await openTracing({ config: tracingConfig, trustsCallers: true, log, metrics });
  const opened = await openStore({
    service: "evm-dex",
    dataDir: settings.DATA_DIR,
    mappedBytes: MAPPED_BYTES,
    ...SQLITE_FILE,
    access: "either",
    ...(settings.MONGODB_URL !== undefined && { mongodbUrl: settings.MONGODB_URL }),
  });
  const store = traceStore(opened, tracing);
  await store.declare(COLLECTIONS);
  const deps = { store, chains };
  const reading = await openPoolReads({ ...deps, redisUrl: settings.REDIS_URL, log, metrics });
  const wallets = new RequestedWallets(store, {
    onFailure: (err) => log.warn({ err }, "queueing wallets for the ingest failed"),
  });
  const chainIds = chains.map(({ chainId }) => chainId);
  const readings = await openChainReadings({ store, chainIds, what: "The pools", env, log });
  const v2Tables = createV2Tables(deps);
  // In the background: the first reader would wait for seconds.
  for (const table of v2Tables.values())
    table.read().catch((err) => log.warn({ err }, "loading the v2 pools failed; the next reader loads them"));
  return runService({
    store,
    name: "evm-dex",
    endpoints,
    handlers: createHandlers({
      ...{ ...deps, pools: reading.pools },
      ...{ v2Tables, wallets },
    }),
    config,
    status: createStatus({ ...deps, readings }),
    missingDataError: createWhyNoData(store, readings),
    prices: createPriceSource(deps),
    heads: reading.heads,
    findExampleCandidates: findExampleScenes(deps),
    dataVersion: reading.dataVersion,
    maxAgeSeconds: reading.maxAgeSeconds,
    log,
    metrics,
    tracing,
    async onStop() {
      readings.close();
      await wallets.close();
      await reading.close();
      await store.close();
    },
  });
}
