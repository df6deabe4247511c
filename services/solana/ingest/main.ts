import { runMain } from "../../shared/process/process.ts";
import { limitSemiSpaceOfThreads } from "../../shared/process/v8-flags.ts";
import { startIngest } from "./service.ts";

limitSemiSpaceOfThreads(16);
await runMain("solana-ingest", () => startIngest(process.env), {
  help: {
    command: "npm run ingest:solana",
    description:
      "Reads Solana's slots from the RPC endpoints of SOLANA_RPC into the store, and follows the head.",
    reads: ["ingest"],
  },
});
