import { startThreadAhead } from "../../shared/evm/thread/thread-start.ts";
import { disablePretenuring, startWithFullSemiSpace } from "../../shared/process/v8-flags.ts";

startWithFullSemiSpace();
disablePretenuring();
// Before the other imports, so that the thread starts meanwhile.
startThreadAhead();
const { runMain } = await import("../../shared/process/process.ts");
const { startIngest } = await import("./service.ts");

await runMain("evm-dex-ingest", () => startIngest(process.env), {
  help: {
    command: "npm run ingest:evm-dex",
    description:
      "Reads exchanges from the RPC endpoints of EVM_RPC_8453 and EVM_RPC_1 into the store: pools, the past, then the head.",
    reads: ["ingest"],
  },
});
