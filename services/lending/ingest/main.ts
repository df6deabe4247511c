import { runMain } from "../../shared/host/process.ts";
import { startIngest } from "./service.ts";

await runMain("lending-ingest", () => startIngest(process.env));
