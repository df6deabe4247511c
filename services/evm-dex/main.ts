import { runMain } from "../shared/process/process.ts";
import { startEvmDex } from "./service.ts";

await runMain("evm-dex", () => startEvmDex(process.env), {
  help: {
    command: "npm run evm-dex",
    description:
      "Serves the tables of EVM exchanges from the store: HTTP for the gateway, prices and health over gRPC.",
    reads: ["evm-dex"],
  },
});
