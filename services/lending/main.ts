import { runMain } from "../shared/host/process.ts";
import { startLending } from "./service.ts";

await runMain("lending", () => startLending(process.env));
