import { put } from "../../shared/storage/port.ts";
import { describeReading } from "../../shared/testkit/reading-suite.ts";
import { chains, dexes, endpoints } from "../contract.ts";
import { COLLECTIONS, checkpoints } from "../store/collections.ts";
import { checkpointRow } from "./kit/rows.ts";

describeReading({
  name: "evm-dex",
  entry: new URL("../main.ts", import.meta.url),
  ingest: new URL("../ingest/main.ts", import.meta.url),
  env: { DEPLOYMENTS_FILE: undefined },
  endpoints,
  withoutChain: [chains.path, dexes.path],
  ...{ chainId: 8453, setting: "EVM_RPC_8453", subject: "The pools of chain 8453" },
  collections: COLLECTIONS,
  fill: (store) => store.write([put(checkpoints, [checkpointRow()])]),
});
