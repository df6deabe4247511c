import { type Environment, readServiceConfig } from "../shared/host/config.ts";
import { type RunningService, runService } from "../shared/host/run-service.ts";
import { endpoints } from "./contract.ts";

/**
 * Starts the solana service: its HTTP endpoints, and Status and health over gRPC. Nothing is ingested yet, so lists
 * are empty, tokens unknown and the mode is `empty`. Throws ConfigError, and Error when a port is taken.
 */
export async function startSolana(env: Environment): Promise<RunningService> {
  return runService({
    name: "solana",
    endpoints,
    handlers: {},
    config: readServiceConfig("solana", env),
    status: async () => ({ mode: "empty", chains: [], peers: [] }),
  });
}
