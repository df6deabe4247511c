/**
 * A process of its own that adds to one counter by compareAndSet, and writes rows of its own meanwhile.
 * Used by sqlite-processes.test.ts.
 */
import { argv } from "node:process";
import { collection } from "../collection.ts";
import { put } from "../port.ts";
import { openSqliteStore } from "../sqlite/store.ts";

export const counters = collection({
  name: "counters",
  fields: { name: "text", value: "int" },
  key: ["name"],
  indexes: [],
  shardKey: ["name"],
});
export const marks = collection({
  name: "marks",
  fields: { worker: "text", step: "int" },
  key: ["worker", "step"],
  indexes: [],
  shardKey: ["worker"],
});

async function countUp(path: string, { worker, times }: { worker: string; times: number }): Promise<void> {
  const store = await openSqliteStore({ path });
  await store.declare([counters, marks]);
  for (let step = 0; step < times; ) {
    const seen = await store.get(counters, { name: "shared" });
    const next = { name: "shared", value: (seen?.value ?? 0) + 1 };
    if (!(await store.compareAndSet(counters, next, seen === undefined ? null : { value: seen.value })))
      continue;
    await store.write([put(marks, [{ worker, step }])]);
    step++;
  }
  await store.close();
}

if (argv[2] === "--path")
  await countUp(argv[3] as string, { worker: argv[4] as string, times: Number(argv[5]) });
