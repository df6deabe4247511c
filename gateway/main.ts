/** The gateway's process; every setting comes from the environment (config.ts). */
import { runMain } from "../services/shared/host/process.ts";
import { makeObjectsYoung } from "../services/shared/host/young-heap.ts";
import { readGatewayConfig } from "./config.ts";
import { startGateway } from "./service.ts";

makeObjectsYoung();
await runMain("gateway", async () => startGateway(readGatewayConfig(process.env)));
