import { startThreadAhead } from "../../shared/chain/evm/thread-start.ts";

// First of all: the thread starts while the rest is loaded.
startThreadAhead();
const { runMain } = await import("../../shared/host/process.ts");
const { startIngest } = await import("./service.ts");

await runMain("evm-dex-ingest", () => startIngest(process.env));
