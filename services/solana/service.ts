import { openChainReadings } from "../shared/ingest-status/chain-readings.ts";
import { createLog } from "../shared/logging/log.ts";
import { createMetrics } from "../shared/metrics/metrics.ts";
import { type RunningService, runService } from "../shared/service/run-service.ts";
import { rejectMisspeltSettings } from "../shared/settings/misspelt-settings.ts";
import {
  collectConfigErrors,
  type Environment,
  readServiceConfig,
  readSettings,
} from "../shared/settings/settings.ts";
import { openStore } from "../shared/storage/open.ts";
import { readTracingConfig } from "../shared/tracing/config.ts";
import { openTracing } from "../shared/tracing/open.ts";
import { traceStore } from "../shared/tracing/store.ts";
import { endpoints } from "./contract.ts";
import { createHandlers } from "./handlers.ts";
import { toDataVersion } from "./serve/answer.ts";
import { createDeps } from "./serve/deps.ts";
import { findExampleScenes } from "./serve/example-scenes.ts";
import { hasData } from "./serve/head.ts";
import { createHeadFeed, watchHead } from "./serve/heads.ts";
import { createHolderRequests } from "./serve/holder-requests.ts";
import { createPriceSource } from "./serve/prices.ts";
import { createServeMetrics } from "./serve/serve-metrics.ts";
import { createStatus } from "./serve/status.ts";
import { COLLECTIONS } from "./store/collections.ts";
import { readKeptRows } from "./store/kept-rows.ts";
import { CHAIN_ID, getCheckpoint } from "./store/queries.ts";

/**
 * Starts the solana service: its HTTP endpoints, and Status and health over gRPC. Throws ConfigError, and Error when a
 * port is taken or the store cannot be opened.
 */
export async function startSolana(env: Environment): Promise<RunningService> {
  const name = "solana";
  const [settings, config, tracingConfig, kept] = collectConfigErrors(
    () => readSettings(env, ["DATA_DIR", "MONGODB_URL", "SOLANA_HOLDERS", "SOLANA_HOLDERS_PERCENT"]),
    () => readServiceConfig(name, env),
    () => readTracingConfig(env, name),
    () => readKeptRows(env),
    () => rejectMisspeltSettings(env),
  );
  const log = createLog({ name, level: config.logLevel });
  const metrics = createMetrics({ name });
  const tracing = await openTracing({ config: tracingConfig, trustsCallers: true, log, metrics });
  const opened = await openStore({
    service: name,
    dataDir: settings.DATA_DIR,
    access: "either",
    ...(settings.MONGODB_URL !== undefined && { mongodbUrl: settings.MONGODB_URL }),
  });
  const store = traceStore(opened, tracing);
  await store.declare(COLLECTIONS);
  const deps = createDeps(store, {
    kept,
    leastCoveragePercent: settings.SOLANA_HOLDERS_PERCENT,
    requestHolders: createHolderRequests(store, {
      onFailure: (err) => log.warn({ err }, "holders cannot be asked for"),
    }),
  });
  const heads = watchHead(store, { onFailure: (err) => log.warn({ err }, "the head cannot be read") });
  createServeMetrics(metrics, { heads, deps });
  const readings = await openChainReadings({
    ...{ store, chainIds: [CHAIN_ID], env, log },
    what: "Solana's transactions and tokens",
  });
  const stop = async (): Promise<void> => {
    readings.close();
    heads.close();
    await store.close();
  };
  try {
    return await runService({
      name,
      store,
      endpoints,
      handlers: createHandlers(deps, { withHolders: settings.SOLANA_HOLDERS === "on" }),
      config,
      log,
      metrics,
      tracing,
      status: createStatus({ store, readings }),
      prices: createPriceSource(store),
      heads: createHeadFeed(store, { heads, log }),
      findExampleCandidates: findExampleScenes(deps),
      async missingDataError(_endpoint, { isAbsent }) {
        const isRead = hasData(await getCheckpoint(store));
        return isRead && isAbsent ? undefined : readings.missingDataError(CHAIN_ID, isRead);
      },
      dataVersion(endpoint) {
        const head = heads.current(CHAIN_ID);
        return head && toDataVersion(endpoint, head);
      },
      onStop: stop,
    });
  } catch (error) {
    await stop();
    throw error;
  }
}
