import { put } from "../../shared/storage/port.ts";
import { describeReading } from "../../shared/testkit/reading-suite.ts";
import { endpoints } from "../contract.ts";
import { PROTOCOL_IDS } from "../protocols/protocol-id.ts";
import { COLLECTIONS, checkpoints, entities } from "../store/collections.ts";
import { worldOf } from "./list-suites.ts";
import { checkpointRow, unitRow } from "./stored.ts";

describeReading({
  name: "lending",
  entry: new URL("./fake-service.main.ts", import.meta.url),
  ingest: new URL("../ingest/main.ts", import.meta.url),
  env: { EVM_DEX_GRPC: "127.0.0.1:1", DEPLOYMENTS_FILE: undefined },
  endpoints,
  ...{ chainId: 8453, setting: "EVM_RPC_8453", subject: "The lending markets of chain 8453" },
  collections: COLLECTIONS,
  async fill(store) {
    const rows = PROTOCOL_IDS.map((id) => unitRow("all", { rows: worldOf(id), block: 200, version: 1 }));
    await store.write([put(entities, rows), put(checkpoints, [checkpointRow()])]);
  },
});
