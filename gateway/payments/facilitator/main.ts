/** The built-in facilitator's process; every setting comes from the environment (service.ts). */
import { runMain } from "../../../services/shared/process/process.ts";
import { readFacilitatorConfig, startFacilitator } from "./service.ts";

await runMain("facilitator", async () => startFacilitator(readFacilitatorConfig(process.env)), {
  help: {
    command: "npm run facilitator",
    description: "Checks payments (x402) and settles them on Base, from a wallet that pays for their gas.",
    reads: ["facilitator"],
  },
});
