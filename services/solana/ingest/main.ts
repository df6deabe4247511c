import { growYoungHeapAtOnce } from "../../shared/host/young-heap.ts";

growYoungHeapAtOnce();
const { runMain } = await import("../../shared/host/process.ts");
const { startIngest } = await import("./service.ts");

await runMain("solana-ingest", () => startIngest(process.env));
