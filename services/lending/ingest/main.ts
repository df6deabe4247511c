import { runMain } from "../../shared/process/process.ts";
import { startIngest } from "./service.ts";

await runMain("lending-ingest", () => startIngest(process.env), {
  help: {
    command: "npm run ingest:lending",
    description:
      "Reads lending markets and vaults from the RPC endpoints of EVM_RPC_8453 and EVM_RPC_1 into the store, and keeps them at the head.",
    reads: ["ingest"],
  },
});
