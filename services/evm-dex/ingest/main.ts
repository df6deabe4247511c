import { runMain } from "../../shared/host/process.ts";
import { startIngest } from "./service.ts";

await runMain("evm-dex-ingest", () => startIngest(process.env));
