import { type Environment, readServiceConfig, readSettings } from "../shared/host/config.ts";
import { createLog } from "../shared/host/log.ts";
import { createMetrics, Gauge } from "../shared/host/metrics.ts";
import { type RunningService, runService } from "../shared/host/run-service.ts";
import { watchPeer } from "../shared/rpc/peer.ts";
import { endpoints } from "./contract.ts";

/**
 * Starts the lending service: its HTTP endpoints, and Status and health over gRPC. Nothing is ingested yet, so lists
 * are empty, vaults unknown and the mode is `empty`. Whether evm-dex, whose prices it stands on, can be reached is
 * in its status and metrics. Throws ConfigError, and Error when a port is taken.
 */
export async function startLending(env: Environment): Promise<RunningService> {
  const name = "lending";
  const config = readServiceConfig(name, env);
  const { EVM_DEX_GRPC } = readSettings(env, ["EVM_DEX_GRPC"]);
  const log = createLog({ name, level: config.logLevel });
  const metrics = createMetrics({ name });
  const evmDex = watchPeer({
    name: "evm-dex",
    addresses: EVM_DEX_GRPC,
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
  try {
    return await runService({
      name,
      endpoints,
      handlers: {},
      config,
      log,
      metrics,
      status: async () => ({ mode: "empty", chains: [], peers: [evmDex.status()] }),
      onStop: async () => evmDex.close(),
    });
  } catch (error) {
    evmDex.close();
    throw error;
  }
}
