import { evmEndpoints } from "../../shared/evm/endpoints.ts";
import { watchHeads } from "../../shared/evm/head-watch/watched-source.ts";
import { withPortal } from "../../shared/evm/portal/with-portal.ts";
import { createEvmSource, type SourceLog } from "../../shared/evm/source/source.ts";
import { INGEST_SETTINGS, type Ingest, openIngest } from "../../shared/ingest/open-ingest.ts";
import { closeOnAbort } from "../../shared/ingest/run-ingest.ts";
import type { ProgressLabels } from "../../shared/ingest-status/progress-line.ts";
import { createPaces, type PaceOf } from "../../shared/portal/pace.ts";
import type { Stoppable } from "../../shared/process/process.ts";
import {
  ConfigError,
  collectConfigErrors,
  type Environment,
  readNamedFile,
} from "../../shared/settings/env.ts";
import { rejectMisspeltSettings } from "../../shared/settings/misspelt-settings.ts";
import { readPortalUrls, readRpcUrls } from "../../shared/settings/rpc-urls.ts";
import { readSettings } from "../../shared/settings/settings.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { PROTOCOLS } from "../protocols/index.ts";
import type { LendingProtocol } from "../protocols/protocol.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { type ChainMetrics, lendingMetrics } from "./metrics.ts";
import { runChain } from "./run-chain.ts";

const SETTINGS_READ = [
  ...INGEST_SETTINGS,
  "LENDING_REFRESH_SECONDS",
  "HEAD_POLL_MS",
  "PORTAL_REQUESTS_PER_SECOND",
] as const;

interface ChainToRun {
  readonly chain: ChainDeployments;
  readonly urls: readonly string[];
  readonly portalUrl: string | undefined;
}

/**
 * Starts indexing the lending protocols of every chain that has RPC endpoints; where the deployments name none of
 * them, it waits idle. Throws ConfigError where no chain has endpoints, and Error when the metrics' port is taken.
 */
export async function startIngest(
  env: Environment,
  protocols: readonly LendingProtocol[] = PROTOCOLS,
): Promise<Stoppable> {
  const [settings, { toRun, withoutSource }] = collectConfigErrors(
    () => readSettings(env, SETTINGS_READ),
    () => chainsToRun(env, protocols),
    () => rejectMisspeltSettings(env),
  );
  const ingest = await openIngest({
    service: "lending",
    settings,
    endpoints: toRun.map(({ chain, urls }) => evmEndpoints(chain.chainId, urls)),
    missingSources: withoutSource,
    collections: COLLECTIONS,
  });
  if (toRun.length === 0)
    ingest.log.warn(
      "the deployments have no lending protocol on the chains with RPC endpoints: nothing to do",
    );
  const metricsOf = lendingMetrics(ingest.metrics);
  const { LENDING_REFRESH_SECONDS: refreshSeconds, HEAD_POLL_MS: pollMs } = settings;
  const paceOf = createPaces(settings.PORTAL_REQUESTS_PER_SECOND);
  return ingest.run(
    toRun.map((each) => (signal) => {
      const metrics = metricsOf(each.chain.chainId);
      return indexChain(ingest, each, { refreshSeconds, pollMs, paceOf, metrics, signal });
    }),
  );
}

function chainsToRun(
  env: Environment,
  protocols: readonly LendingProtocol[],
): { toRun: ChainToRun[]; withoutSource: number[] } {
  const [rpc, portals, chains] = collectConfigErrors(
    () => readRpcUrls(env),
    () => readPortalUrls(env),
    () =>
      readNamedFile(env, { setting: "DEPLOYMENTS_FILE", load: (path) => loadDeployments(path, protocols) }),
  );
  if (rpc.size === 0) throw new ConfigError(["EVM_RPC_8453 or EVM_RPC_1 must name an RPC endpoint."]);
  const toRun = chains.flatMap((chain): ChainToRun[] => {
    const urls = rpc.get(chain.chainId);
    if (urls === undefined || chain.protocols.length === 0) return [];
    return [{ chain, urls, portalUrl: portals.get(chain.chainId) }];
  });
  const withoutSource = chains.filter(({ chainId }) => !rpc.has(chainId)).map(({ chainId }) => chainId);
  return { toRun, withoutSource };
}

/** Indexes a chain whenever this process holds the chain's lease. */
async function indexChain(
  ingest: Ingest,
  { chain, urls, portalUrl }: ChainToRun,
  options: {
    refreshSeconds: number;
    pollMs: number;
    paceOf: PaceOf;
    metrics: ChainMetrics;
    signal: AbortSignal;
  },
): Promise<void> {
  const { refreshSeconds, pollMs, paceOf, metrics, signal } = options;
  const { store } = ingest;
  const { chainId, name } = chain;
  const log = ingest.log.child({ chainId });
  const labels: ProgressLabels = {
    chain: `${name} lending`,
    discovered: "entities",
    blockNoun: "block",
    events: "entities",
  };
  const reporter = ingest.createReporter({ chainId, log, urls, labels });
  const warn: SourceLog = (message, fields) => log.warn(fields, message);
  const live = createEvmSource({ chainId, urls, log: warn, onEvent: metrics.onEvent });
  const nodes = watchHeads(live, { pollMs, withSenders: false, log: warn });
  const source = closeOnAbort(
    signal,
    portalUrl === undefined
      ? nodes
      : withPortal(nodes, { url: portalUrl, log: warn, options: paceOf(portalUrl) }),
  );
  try {
    await ingest.runAsLeader({ chainId, log, reporter, signal, readHead: source.head }, (lead) =>
      runChain({ store, source, chain, refreshSeconds, metrics, reporter, log, ...lead }),
    );
  } finally {
    await source.close();
  }
}
