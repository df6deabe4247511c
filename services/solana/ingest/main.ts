import { runMain } from "../../shared/host/process.ts";
import { limitYoungHeapOfThreads } from "../../shared/host/young-heap.ts";
import { startIngest } from "./service.ts";

limitYoungHeapOfThreads(16);
await runMain("solana-ingest", () => startIngest(process.env));
