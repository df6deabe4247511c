import { runMain } from "../../../shared/process/process.ts";
import { openStore } from "../../../shared/storage/open.ts";
import { put } from "../../../shared/storage/port.ts";
import { startEvmDex } from "../../service.ts";
import { COLLECTIONS, checkpoints } from "../../store/collections.ts";
import { address, checkpointRow } from "../kit/rows.ts";
import { writeLinks } from "./write-links.ts";

// The evm-dex service as it is, over a store with prices only: at block 200 of Base the first token is worth one
// dollar, and the second 2,000 of the first.
await runMain("evm-dex", async () => {
  const store = await openStore({ service: "evm-dex", dataDir: String(process.env.DATA_DIR) });
  await store.declare(COLLECTIONS);
  const link = { blockNumber: 150, token: address(2), parent: address(1), price: 2_000 };
  await writeLinks(store, { anchors: [address(1)], links: [link] });
  await store.write([put(checkpoints, [checkpointRow()])]);
  await store.close();
  return startEvmDex(process.env);
});
