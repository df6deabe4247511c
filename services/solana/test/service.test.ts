import { describeService } from "../../shared/host/testkit/service-suite.ts";
import { endpoints } from "../contract.ts";

describeService({
  name: "solana",
  entry: new URL("../main.ts", import.meta.url),
  endpoints,
  status: { mode: "empty", chains: [], peers: [] },
});
