import { runMain } from "../shared/host/process.ts";
import { startSolana } from "./service.ts";

await runMain("solana", () => startSolana(process.env));
