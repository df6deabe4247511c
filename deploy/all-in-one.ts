/**
 * npm start: the gateway, every service, every ingest and, without RPC endpoints, a local chain, on one machine with
 * embedded defaults. The only file that may import the gateway and every service.
 */
import { join } from "node:path";
import { readGatewayConfig } from "../gateway/config.ts";
import { startGateway } from "../gateway/service.ts";
import { loadDeployments as loadEvmDexDeployments } from "../services/evm-dex/deployments.ts";
import { startEvmDex } from "../services/evm-dex/service.ts";
import { loadCurators } from "../services/lending/curators.ts";
import { loadDeployments as loadLendingDeployments } from "../services/lending/deployments.ts";
import { startLending } from "../services/lending/service.ts";
import { isLiveNotice } from "../services/shared/ingest/live-notice.ts";
import { createLog, logErrorsOnly } from "../services/shared/logging/log.ts";
import { formatLogLine, logFormatOf } from "../services/shared/logging/log-text.ts";
import { INGEST_MALLOC } from "../services/shared/process/malloc.ts";
import { runMain, type Stoppable } from "../services/shared/process/process.ts";
import { ensureWritableFolder, makeFolder } from "../services/shared/settings/folder.ts";
import { findMisspeltSettings } from "../services/shared/settings/misspelt-settings.ts";
import { readRpcUrls } from "../services/shared/settings/rpc-urls.ts";
import { type Environment, readNamedFile } from "../services/shared/settings/settings.ts";
import { LOCAL_FOLDER, writeStoreMarker } from "../services/shared/settings/store-location.ts";
import { startSolana } from "../services/solana/service.ts";
import { banner } from "./local/banner.ts";
import { openLocalChains } from "./local/chains.ts";
import { tellCosts } from "./local/costs.ts";
import { readDemoKey } from "./local/demo-key.ts";
import { inspectChains, listEndpoints, watchEndpoints } from "./local/endpoints.ts";
import { HeadSharing } from "./local/head-sharing.ts";
import { exitSentence, readableLine } from "./local/ingest-lines.ts";
import { LiveLine } from "./local/live-line.ts";
import { DRAIN_MS, INGEST_STOP_MS, Parts } from "./local/parts.ts";
import { localPayments } from "./local/payments.ts";
import { checkPorts, listPorts } from "./local/ports.ts";
import { checkTogether, isLocal, readAllSettings } from "./local/settings.ts";
import { superviseProcess } from "./local/supervisor.ts";
import { untilIndexed } from "./local/until-indexed.ts";

/** Services with an ingest, which writes the data that they serve. */
const INDEXED_EVM = ["evm-dex", "lending"] as const;
type Indexed = (typeof INDEXED_EVM)[number] | "solana";

const help = {
  command: "npm start",
  description:
    "Runs everything on this machine: the gateway, every service and every ingest; without EVM_RPC_8453 and EVM_RPC_1 on a local chain with pools and traders of its own. Ctrl-C stops it; the next start goes on where this one stopped.",
};
const live = new LiveLine(process.stderr);
const say = (line: string) => live.say(line);

await runMain("chaintables", (stopping) => startAll(process.env, stopping), { help, prefersText: true });

async function startAll(given: Environment, stopping: AbortSignal): Promise<Stoppable> {
  const startedMs = performance.now();
  const settings = readAllSettings(given, [
    readGatewayConfig,
    (env) => readNamedFile(env, { setting: "DEPLOYMENTS_FILE", load: loadEvmDexDeployments }),
    (env) =>
      readNamedFile(env, { setting: "DEPLOYMENTS_FILE", load: (path) => loadLendingDeployments(path) }),
    (env) => readNamedFile(env, { setting: "CURATORS_FILE", load: loadCurators }),
  ]);
  // One log for several services: only what needs attention, unless LOG_LEVEL says otherwise.
  const logLevel = given.LOG_LEVEL?.trim() ? settings.LOG_LEVEL : "warn";
  // A terminal's live line must be taken away before each line of the log.
  const destination = live.isOpen ? { write: (line: string) => say(asLogged(line).trimEnd()) } : 2;
  const log = createLog({ name: "all-in-one", level: logLevel, destination });
  const root = settings.DATA_DIR;
  // An index of the local chain and one of the real chain are never mixed.
  const dataDir = isLocal(given) ? join(root, LOCAL_FOLDER) : root;
  const mark = {
    folder: isLocal(given) ? LOCAL_FOLDER : ".",
    usesMongodb: settings.MONGODB_URL !== undefined,
    isLocalChain: isLocal(given),
  } as const;
  const chains = listEndpoints(given);
  let absent: readonly string[] = [];
  await checkTogether([
    ensureWritableFolder("DATA_DIR", root),
    checkPorts(listPorts(given, settings)),
    inspectChains(chains).then((found) => {
      absent = found;
    }),
  ]);
  for (const sentence of absent) say(sentence);
  await makeFolder(dataDir);
  await writeStoreMarker(root, mark);

  // Beside the start of the services; the ingests wait for it, so that costs are told before they come.
  const costs = isLocal(given)
    ? undefined
    : tellCosts({
        ...{ env: given, dataDir, say, signal: stopping },
        evmDex: loadEvmDexDeployments(given.DEPLOYMENTS_FILE?.trim() || undefined),
        lending: loadLendingDeployments(given.DEPLOYMENTS_FILE?.trim() || undefined),
      });
  const parts = new Parts();
  stopping.addEventListener("abort", () => {
    live.close();
    logErrorsOnly();
    void parts.stop();
  });
  try {
    const [devnet, localSolana] = isLocal(given)
      ? await openLocalChains({
          ...{ dataDir, port: settings.DEVNET_PORT, withSolana: settings.SOLANA_RPC === undefined },
          ...{ parts, log, say },
        })
      : [];
    // In traces each part has its own name. Requests in flight must not hold a Ctrl-C.
    const own = { DATA_DIR: dataDir, LOG_LEVEL: logLevel, OTEL_SERVICE_NAME: undefined };
    const drain = {
      DRAIN_DELAY_MS: "0",
      DRAIN_TIMEOUT_MS: String(Math.min(DRAIN_MS, settings.DRAIN_TIMEOUT_MS)),
    };
    const common: Environment = { ...given, ...own, ...drain, ...devnet?.env };
    const payments = await openPayments(common, devnet !== undefined);
    const ofSolana: Environment = {
      ...{ ...common, DATA_DIR: root, ...localSolana },
      // A stream or a portal of mainnet is none of the local cluster.
      ...(localSolana !== undefined && { SOLANA_GRPC: undefined, SOLANA_PORTAL: undefined }),
    };
    // These ports skip keys and payment: only the gateway's listeners follow BIND_HOST.
    const anyPort = { HTTP_PORT: "0", GRPC_PORT: "0", BIND_HOST: "127.0.0.1" };
    const evmDex = await keep(startEvmDex({ ...common, ...anyPort }));
    const peers = { EVM_DEX_GRPC: evmDex.grpcAddress };
    const lending = await keep(startLending({ ...common, ...anyPort, ...peers }));
    const solana = await keep(startSolana({ ...ofSolana, ...anyPort }));
    await costs;
    const heads = shareHeads(common);
    for (const name of INDEXED_EVM) superviseIngest(name, common, heads);
    if (ofSolana.SOLANA_RPC) superviseIngest("solana", ofSolana);
    const apiKey = given.BOOTSTRAP_API_KEY || (await readDemoKey(dataDir));
    const gateway = await startGateway(
      readGatewayConfig({
        ...common,
        ...payments,
        ...peers,
        BOOTSTRAP_API_KEY: apiKey,
        EVM_DEX_URL: evmDex.httpUrl,
        LENDING_URL: lending.httpUrl,
        LENDING_GRPC: lending.grpcAddress,
        SOLANA_URL: solana.httpUrl,
        SOLANA_GRPC: solana.grpcAddress,
      }),
    );
    parts.add("front", gateway);
    const { url, payUrl, adminUrl } = gateway;
    const localRpc = devnet && { 8453: devnet.url };
    const deploymentsFile = devnet?.env.DEPLOYMENTS_FILE;
    await writeStoreMarker(root, {
      ...mark,
      ...(localRpc && { localRpc }),
      ...(deploymentsFile && { deploymentsFile }),
      url,
      ...(payUrl && { payUrl }),
    });
    if (devnet !== undefined) await untilIndexed(url, { apiKey, pool: devnet.pool, signal: stopping });
    const startedInSeconds = (performance.now() - startedMs) / 1000;
    const notes = [...absent, ...findMisspeltSettings(given).warnings];
    const dataDirSetting = given.DATA_DIR?.trim();
    const facts = { url, payUrl, adminUrl, apiKey, devnet, dataDir, dataDirSetting, startedInSeconds, notes };
    live.around(() => console.log(banner(facts)));
    void watchEndpoints(chains, { absent, say, signal: stopping });
    return parts;
  } catch (error) {
    await parts.stop();
    throw error;
  }

  /** One watcher a chain for all ingests. */
  function shareHeads(env: Environment): HeadSharing {
    const urls = readRpcUrls(env);
    return parts.add("behind", new HeadSharing({ urls, pollMs: settings.HEAD_POLL_MS, log }));
  }

  function superviseIngest(name: Indexed, env: Environment, heads?: HeadSharing): void {
    const shown = new Set<string>();
    const ingest = superviseProcess({
      name: `${name}-ingest`,
      program: { entry: new URL(`../services/${name}/ingest/main.ts`, import.meta.url) },
      // Several of them cannot have one port; their lines are read here.
      env: {
        ...INGEST_MALLOC,
        ...env,
        LOG_LEVEL: given.LOG_LEVEL ?? "info",
        INGEST_METRICS_PORT: "0",
        LOG_FORMAT: "json",
      },
      log,
      stopTimeoutMs: INGEST_STOP_MS,
      onExit: (exit) => {
        live.forget(shown);
        const sentence = exitSentence(name, exit);
        if (sentence !== undefined && !parts.isStopping) say(sentence);
      },
      onMessage: (message, reply) => {
        if (!isLiveNotice(message)) return heads?.receive(message, reply);
        shown.add(message.chain);
        live.show(message);
      },
      onLine: (line) => {
        if (parts.isStopping) return;
        const readable =
          given.LOG_LEVEL === undefined ? readableLine(line, { hidesProgress: live.isOpen }) : asLogged(line);
        if (readable !== undefined) say(readable);
      },
    });
    parts.add("ingest", ingest);
  }

  async function keep<T extends Stoppable>(starting: Promise<T>): Promise<T> {
    const started = parts.add("behind", await starting);
    stopping.throwIfAborted();
    return started;
  }

  /** The built-in facilitator, where it has a wallet; on the local chain wallet and recipient are generated. */
  async function openPayments(env: Environment, isOnDevnet: boolean): Promise<Environment> {
    const local = isOnDevnet && !given.X402_PAY_TO ? localPayments(given) : {};
    const settled = { ...env, ...local };
    const isElsewhere = Boolean(settled.X402_FACILITATOR_URL);
    if (isElsewhere || !settled.X402_PAY_TO || !settled.FACILITATOR_PRIVATE_KEY) return local;
    const { readFacilitatorConfig, startFacilitator } = await import(
      "../gateway/payments/facilitator/service.ts"
    );
    const { url } = await keep(
      startFacilitator(readFacilitatorConfig({ ...settled, BIND_HOST: "127.0.0.1" })),
    );
    return { X402_FACILITATOR_URL: url, ...local };
  }
}

/** All that an ingest logs, in the form that LOG_FORMAT sets. */
function asLogged(line: string): string {
  return logFormatOf(2) === "text" ? formatLogLine(line).trimEnd() : line;
}
