import { runMain } from "../../shared/process/process.ts";
import { openStore } from "../../shared/storage/open.ts";
import { startLending } from "../service.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { address, vaultRow } from "./fake-protocol.ts";
import { fakeChain, writeBlock } from "./stored.ts";

// The lending service as it is, over one vault of the second token (3 of it), at block 200 of Base.
await runMain("lending", async () => {
  const store = await openStore({ service: "lending", dataDir: String(process.env.DATA_DIR) });
  await store.declare(COLLECTIONS);
  const underlying = { address: address(2), symbol: "WETH" };
  const rows = [vaultRow({ address: address(0xb1), underlying, supply: 3 })];
  await writeBlock(store, { block: 200, units: { all: rows } });
  await store.close();
  return startLending(process.env, { chains: [fakeChain()] });
});
