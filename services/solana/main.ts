import { runMain } from "../shared/process/process.ts";
import { startSolana } from "./service.ts";

await runMain("solana", () => startSolana(process.env), {
  help: {
    command: "npm run solana",
    description: "Serves the tables of Solana from the store: HTTP for the gateway, health over gRPC.",
    reads: ["solana"],
  },
});
