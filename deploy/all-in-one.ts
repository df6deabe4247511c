/**
 * npm start: the gateway, every service, every ingest and, without RPC endpoints, a local chain, on one machine with
 * embedded defaults. The only file that may import the gateway and every service.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readGatewayConfig } from "../gateway/config.ts";
import { startGateway } from "../gateway/service.ts";
import { startEvmDex } from "../services/evm-dex/service.ts";
import { startLending } from "../services/lending/service.ts";
import { type Environment, readSettings } from "../services/shared/host/config.ts";
import { createLog } from "../services/shared/host/log.ts";
import { runMain, type Stoppable } from "../services/shared/host/process.ts";
import { superviseProcess } from "../services/shared/host/supervisor.ts";
import { startSolana } from "../services/solana/service.ts";
import { banner } from "./local/banner.ts";
import { readDemoKey } from "./local/demo-key.ts";
import { startDevnetProcess, startSolanaDevnetProcess } from "./local/devnet-process.ts";
import { readableLine } from "./local/ingest-lines.ts";
import { localPayments } from "./local/payments.ts";

/** Services with an ingest, which makes what they answer from. */
const INDEXED_EVM = ["evm-dex", "lending"] as const;
type Indexed = (typeof INDEXED_EVM)[number] | "solana";

const say = (line: string) => console.error(line);

await runMain("all-in-one", () => startAll(process.env));

async function startAll(given: Environment): Promise<Stoppable> {
  const startedMs = performance.now();
  // One process tells of several services: only what needs attention, unless asked for more.
  const logLevel = given.LOG_LEVEL ?? "warn";
  const log = createLog({
    name: "all-in-one",
    level: readSettings({ LOG_LEVEL: logLevel }, ["LOG_LEVEL"]).LOG_LEVEL,
    destination: 2,
  });
  const settings = readSettings(given, [
    "DATA_DIR",
    "EVM_RPC_8453",
    "EVM_RPC_1",
    "SOLANA_RPC",
    "DEVNET_PORT",
  ]);
  const isLocal = settings.EVM_RPC_8453 === undefined && settings.EVM_RPC_1 === undefined;
  // An index of the local chain and one of the real chain never meet.
  const localDir = join(settings.DATA_DIR, "local");
  const dataDir = isLocal ? localDir : settings.DATA_DIR;
  const running: Stoppable[] = [];
  const stop = async () => {
    for (const each of running.reverse()) await each.stop();
  };
  try {
    const [devnet, localSolana] = isLocal ? await openLocalChains() : [];
    // In traces each part has its own name.
    const own = { DATA_DIR: dataDir, LOG_LEVEL: logLevel, OTEL_SERVICE_NAME: undefined };
    const common: Environment = { ...given, ...own, ...devnet?.env };
    const payments = await openPayments(common, devnet !== undefined);
    const ofSolana: Environment = { ...common, DATA_DIR: settings.DATA_DIR, ...localSolana };
    // These ports skip keys and payment: only the gateway's listeners follow BIND_HOST.
    const anyPort = { HTTP_PORT: "0", GRPC_PORT: "0", BIND_HOST: "127.0.0.1" };
    const evmDex = await keep(startEvmDex({ ...common, ...anyPort }));
    const peers = { EVM_DEX_GRPC: evmDex.grpcAddress };
    const lending = await keep(startLending({ ...common, ...anyPort, ...peers }));
    const solana = await keep(startSolana({ ...ofSolana, ...anyPort }));
    for (const name of INDEXED_EVM) running.push(superviseIngest(name, common));
    if (ofSolana.SOLANA_RPC) running.push(superviseIngest("solana", ofSolana));
    const apiKey = given.BOOTSTRAP_API_KEY || (await readDemoKey(dataDir));
    const gateway = await keep(
      startGateway(
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
      ),
    );
    if (devnet !== undefined) await untilIndexed(gateway.url, { apiKey, pool: devnet.pool });
    const startedInSeconds = (performance.now() - startedMs) / 1000;
    const { url, payUrl } = gateway;
    console.log(banner({ url, payUrl, apiKey, devnet, dataDir, startedInSeconds }));
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }

  function superviseIngest(name: Indexed, env: Environment): Stoppable {
    return superviseProcess({
      name: `${name}-ingest`,
      program: { entry: new URL(`../services/${name}/ingest/main.ts`, import.meta.url) },
      // Several of them cannot have one port.
      env: { ...env, LOG_LEVEL: given.LOG_LEVEL ?? "info", INGEST_METRICS_PORT: "0" },
      log,
      onLine: (line) => {
        const readable = given.LOG_LEVEL === undefined ? readableLine(line) : line;
        if (readable !== undefined) say(readable);
      },
    });
  }

  async function keep<T extends Stoppable>(starting: Promise<T>): Promise<T> {
    const started = await starting;
    running.push(started);
    return started;
  }

  /** The built-in facilitator, where it has a wallet; on the local chain one is made up, and somebody who is paid. */
  async function openPayments(env: Environment, isOnDevnet: boolean): Promise<Environment> {
    const local = isOnDevnet && !given.X402_PAY_TO ? localPayments(given) : {};
    const settled = { ...env, ...local };
    const isElsewhere = Boolean(settled.X402_FACILITATOR_URL);
    if (isElsewhere || !settled.X402_PAY_TO || !settled.FACILITATOR_PRIVATE_KEY) return local;
    const { readFacilitatorConfig, startFacilitator } = await import("../gateway/facilitator/service.ts");
    const { url } = await keep(
      startFacilitator(readFacilitatorConfig({ ...settled, BIND_HOST: "127.0.0.1" })),
    );
    return { X402_FACILITATOR_URL: url, ...local };
  }

  async function removeIndex(service: Indexed): Promise<void> {
    for (const suffix of ["", "-wal", "-shm"])
      await rm(join(localDir, `${service}.sqlite${suffix}`), { force: true });
  }

  /** Both at once; where one fails, the other has started too by then, and is stopped with the rest. */
  async function openLocalChains() {
    const isSolanaLocal = settings.SOLANA_RPC === undefined;
    const opening = [openLocalChain(), isSolanaLocal ? openLocalSolana() : undefined] as const;
    await Promise.allSettled(opening);
    return Promise.all(opening);
  }

  /** The environment by which the Solana ingest finds it. */
  async function openLocalSolana(): Promise<Environment> {
    const { ready, process } = await startSolanaDevnetProcess({ dataDir, port: 0, log, say });
    running.push(process);
    if (!ready.resumed) await removeIndex("solana");
    return { SOLANA_RPC: `${ready.url},${ready.wsUrl}`, START_BLOCK_SOLANA: "0", DATA_DIR: localDir };
  }

  async function openLocalChain() {
    const port = settings.DEVNET_PORT;
    say(
      "No RPC endpoint is configured: starting a local chain (the first time with a week of history, some seconds).",
    );
    const { ready, process } = await startDevnetProcess({ dataDir, port, log, say });
    running.push(process);
    // Another chain than the one that was indexed: the index is worthless, and made again within seconds.
    if (!ready.resumed) {
      for (const name of INDEXED_EVM) await removeIndex(name);
    }
    const [first] = ready.pools;
    return {
      url: ready.url,
      pool: first?.address ?? "",
      poolName: first?.name ?? "",
      env: {
        EVM_RPC_8453: `${ready.url},${ready.wsUrl}`,
        START_BLOCK_8453: "0",
        DEPLOYMENTS_FILE: ready.deploymentsFile,
      },
    };
  }
}

/** The curl line that is printed next must work. */
async function untilIndexed(url: string, of: { apiKey: string; pool: string }): Promise<void> {
  const path = `/evm/dexb/v3/pool?pool_address=${of.pool}`;
  for (let attempt = 0; attempt < 300; attempt++) {
    const response = await fetch(url + path, { headers: { "X-API-KEY": of.apiKey } }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${path} did not answer within 30 seconds.`);
}
