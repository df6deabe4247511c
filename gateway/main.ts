/**
 * The gateway's process; every setting comes from the environment (config.ts). With GATEWAY_WORKERS it is started once
 * more for each worker, by itself.
 */
import cluster from "node:cluster";
import { runMain } from "../services/shared/process/process.ts";
import {
  disableMemoryReducer,
  disablePretenuring,
  raiseOldSpaceGrowth,
  startWithFullSemiSpace,
} from "../services/shared/process/v8-flags.ts";
import { ensureWritableFolder } from "../services/shared/settings/folder.ts";
import { writeStoreMarker } from "../services/shared/settings/store-location.ts";
import { readGatewayConfig, type StoreConfig } from "./config.ts";

disablePretenuring();
raiseOldSpaceGrowth();
startWithFullSemiSpace();
disableMemoryReducer();
/** Shows that the folder can be used, and commands which one it is. */
async function claimStore({ mongodbUrl, dataDir }: StoreConfig): Promise<void> {
  if (mongodbUrl !== undefined) return;
  await ensureWritableFolder("DATA_DIR", dataDir);
  await writeStoreMarker(dataDir, { folder: ".", usesMongodb: false, isLocalChain: false });
}

const help = {
  command: "npm run gateway",
  description:
    "Answers the public API from the services, with API keys, limits, documentation and payments (x402).",
  reads: ["gateway"],
};
await runMain(
  "gateway",
  async () => {
    const config = readGatewayConfig(process.env);
    if (cluster.isPrimary) await claimStore(config.store);
    // The parent of workers has nothing of what they are made of.
    if (config.workers !== undefined && config.workers > 1 && cluster.isPrimary) {
      return (await import("./fleet/fleet.ts")).startFleet(config);
    }
    const { startGateway } = await import("./service.ts");
    if (cluster.isPrimary) return startGateway(config);
    const { startWorker } = await import("./fleet/worker.ts");
    return startWorker(config, startGateway);
  },
  { help },
);
