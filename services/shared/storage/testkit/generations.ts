/**
 * A process of its own that writes generation after generation into one SQLite file, each as one write: all rows
 * get the generation's number. Prints a line after each. Used by sqlite-processes.test.ts.
 */
import { writeSync } from "node:fs";
import { argv } from "node:process";
import { collection } from "../collection.ts";
import { put } from "../port.ts";
import { openSqliteStore } from "../sqlite/store.ts";

export const GENERATION_ROWS = 1_500;

export const generations = collection({
  name: "generations",
  fields: { id: "int", generation: "int", padding: "text" },
  key: ["id"],
  indexes: [{ fields: ["generation"] }],
  shardKey: ["id"],
});

async function writeForever(path: string): Promise<never> {
  const store = await openSqliteStore({ path });
  await store.declare([generations]);
  for (let generation = 1; ; generation++) {
    const rows = Array.from({ length: GENERATION_ROWS }, (_, id) => ({
      id,
      generation,
      padding: "x".repeat(id % 300),
    }));
    await store.write([put(generations, rows.slice(0, 700)), put(generations, rows.slice(700))]);
    // At once: a line still in the buffer of a killed process would be a write that nobody heard of.
    writeSync(1, `${generation}\n`);
  }
}

if (argv[2] === "--path") await writeForever(argv[3] as string);
