/**
 * Moves the head of the synthetic v2 chain every half second, in a process of its own, as an ingest would: its writes
 * must not count as time of the service. Ends with its standard input. Argument: the store's options as JSON.
 */
import { COLLECTIONS } from "../services/evm-dex/store/collections.ts";
import { openBenchStore } from "./synthetic/bench-store.ts";
import { moveHead } from "./synthetic/v2.ts";

const EVERY_MS = 1_000;
const { engine, place, pools, touched } = JSON.parse(process.argv[2] ?? "{}");
const store = await openBenchStore(engine, place);
await store.declare(COLLECTIONS);
process.stdin.resume().on("end", () => process.exit());
console.log("ready");
for (let block = 1; ; block++) {
  await moveHead(store, { block, touched, pools });
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
}
