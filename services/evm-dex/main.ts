import { runMain } from "../shared/host/process.ts";
import { startEvmDex } from "./service.ts";

await runMain("evm-dex", () => startEvmDex(process.env));
