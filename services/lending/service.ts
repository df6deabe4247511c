import { watchPeer } from "../shared/grpc/peer.ts";
import { openChainReadings } from "../shared/ingest-status/chain-readings.ts";
import { createLog } from "../shared/logging/log.ts";
import { createMetrics, Gauge } from "../shared/metrics/metrics.ts";
import { type RunningService, runService } from "../shared/service/run-service.ts";
import { rejectMisspeltSettings } from "../shared/settings/misspelt-settings.ts";
import {
  collectConfigErrors,
  type Environment,
  readNamedFile,
  readServiceConfig,
  readSettings,
} from "../shared/settings/settings.ts";
import { openStore } from "../shared/storage/open.ts";
import { readTracingConfig } from "../shared/tracing/config.ts";
import { openTracing } from "../shared/tracing/open.ts";
import { endpoints } from "./contract.ts";
import { loadCurators } from "./curators.ts";
import { type ChainDeployments, loadDeployments } from "./deployments.ts";
import { createHandlers } from "./handlers.ts";
import { findExampleScenes } from "./serve/example-scenes.ts";
import { openServing } from "./serve/serving.ts";
import { createStatus } from "./serve/status.ts";
import { createWhyNoData } from "./serve/why-no-data.ts";
import { COLLECTIONS } from "./store/collections.ts";

/**
 * Starts the lending service: its HTTP endpoints, and Status and health over gRPC. It requests prices from evm-dex; whether
 * evm-dex can be reached is in its status and metrics, and has no other effect. Throws ConfigError, and Error when a port
 * is taken or a file cannot be read.
 * @param options.chains instead of those of DEPLOYMENTS_FILE or the built-in registry
 */
export async function startLending(
  env: Environment,
  options: { chains?: readonly ChainDeployments[] } = {},
): Promise<RunningService> {
  const name = "lending";
  const [config, tracingConfig, settings, chains, curators] = collectConfigErrors(
    () => readServiceConfig(name, env),
    () => readTracingConfig(env, name),
    () => readSettings(env, ["EVM_DEX_GRPC", "DATA_DIR", "MONGODB_URL", "PRICE_STALE_SECONDS"]),
    () =>
      options.chains ??
      readNamedFile(env, { setting: "DEPLOYMENTS_FILE", load: (path) => loadDeployments(path) }),
    () => readNamedFile(env, { setting: "CURATORS_FILE", load: loadCurators }),
    () => rejectMisspeltSettings(env),
  );
  const store = await openStore({
    service: name,
    dataDir: settings.DATA_DIR,
    access: "either",
    ...(settings.MONGODB_URL !== undefined && { mongodbUrl: settings.MONGODB_URL }),
  });
  await store.declare(COLLECTIONS);
  const log = createLog({ name, level: config.logLevel });
  const metrics = createMetrics({ name });
  const tracing = await openTracing({ config: tracingConfig, trustsCallers: true, log, metrics });
  const evmDex = watchPeer({
    name: "evm-dex",
    addresses: settings.EVM_DEX_GRPC,
    onChange: (state) => log.info({ peer: "evm-dex", state }, "peer changed"),
  });
  new Gauge({
    name: "peer_serving",
    help: "1 while a replica of the peer reports that it serves, else 0",
    labelNames: ["peer"],
    registers: [metrics.registry],
    collect() {
      const peer = evmDex.status();
      this.set({ peer: peer.name }, peer.state === "serving" ? 1 : 0);
    },
  });
  const serving = await openServing({
    ...{ store, chains, curators, log, metrics, tracing },
    evmDexAddresses: settings.EVM_DEX_GRPC,
    serviceToken: config.serviceTokens?.[0],
    staleSeconds: settings.PRICE_STALE_SECONDS,
  });
  const chainIds = chains.map(({ chainId }) => chainId);
  const readings = await openChainReadings({ store, chainIds, what: "The lending markets", env, log });
  const stop = async (): Promise<void> => {
    readings.close();
    evmDex.close();
    await serving.close();
    await store.close();
  };
  try {
    const handlers = createHandlers({ tables: serving.tables, past: serving.past, store, chains });
    return await runService({
      name,
      store,
      endpoints,
      handlers,
      findExampleCandidates: findExampleScenes({ endpoints, handlers, chains }),
      config,
      log,
      metrics,
      tracing,
      status: createStatus({ ...serving, chains, readings, peers: () => [evmDex.status()] }),
      missingDataError: createWhyNoData(store, { dataVersion: serving.dataVersion, readings }),
      heads: serving.feed,
      dataVersion: serving.dataVersion,
      maxAgeSeconds: serving.maxAgeSeconds,
      onStop: stop,
    });
  } catch (error) {
    await stop();
    throw error;
  }
}
