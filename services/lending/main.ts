import { runMain } from "../shared/process/process.ts";
import { startLending } from "./service.ts";

await runMain("lending", () => startLending(process.env), {
  help: {
    command: "npm run lending",
    description:
      "Serves the tables of lending markets and vaults from the store: HTTP for the gateway, health over gRPC.",
    reads: ["lending"],
  },
});
