import { startThreadAhead } from "../../shared/chain/evm/thread-start.ts";
import { growYoungHeapAtOnce } from "../../shared/host/young-heap.ts";

growYoungHeapAtOnce();
// Before the rest is loaded: the thread starts meanwhile.
startThreadAhead();
const { runMain } = await import("../../shared/host/process.ts");
const { startIngest } = await import("./service.ts");

await runMain("evm-dex-ingest", () => startIngest(process.env), {
  help: {
    command: "npm run ingest:evm-dex",
    about:
      "Reads exchanges from the RPC endpoints of EVM_RPC_8453 and EVM_RPC_1 into the store: pools, the past, then the head.",
    reads: ["ingest"],
  },
});
