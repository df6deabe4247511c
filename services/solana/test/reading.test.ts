import { describeReading } from "../../shared/testkit/reading-suite.ts";
import { endpoints } from "../contract.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { fillStore } from "./fill.ts";

describeReading({
  name: "solana",
  entry: new URL("../main.ts", import.meta.url),
  ingest: new URL("../ingest/main.ts", import.meta.url),
  endpoints,
  ...{ chainId: 0, setting: "SOLANA_RPC", subject: "Solana's transactions and tokens" },
  collections: COLLECTIONS,
  fill: async (store) => void (await fillStore(store, { endTime: 1_700_000_000, blocks: 20 })),
});
