/** Opens the store of evm-dex in DATA_DIR with the access that it is given, reads and writes it, and prints what came of it. */
import { printJson } from "../../process/print-json.ts";
import { openStore } from "../open.ts";
import { type Access, put } from "../port.ts";
import { notes } from "./notes.ts";

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
const [access = "write", dataDir = ""] = process.argv.slice(2);
try {
  const store = await openStore({ service: "evm-dex", dataDir, access: access as Access });
  await store.declare([notes]);
  const rows = await store.count(notes, {});
  const written = await store.write([put(notes, [{ id: 9, text: "nine" }])]).then(() => "written", messageOf);
  printJson({ isReadOnly: store.isReadOnly, rows, written });
  await store.close();
} catch (error) {
  printJson({ name: (error as Error).name, refused: messageOf(error) });
}
