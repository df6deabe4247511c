import { runMain } from "../../shared/process/process.ts";
import { startLending } from "../service.ts";
import { fakeChain } from "./stored.ts";

// The lending service as it is, over protocols that need no chain.
await runMain("lending", () => startLending(process.env, { chains: [fakeChain()] }));
