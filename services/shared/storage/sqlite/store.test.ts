import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeStore } from "../suite.ts";
import { openSqliteStore } from "./store.ts";

describeStore("sqlite in memory", {
  traits: { shared: false, atomicWrites: true },
  open: async () => ({ connect: () => openSqliteStore({ path: ":memory:" }), remove: async () => {} }),
});

describeStore("sqlite in a file", {
  traits: { shared: true, atomicWrites: true },
  open: async () => {
    const dir = await mkdtemp(join(tmpdir(), "store-"));
    return {
      connect: () => openSqliteStore({ path: join(dir, "store.sqlite") }),
      remove: () => rm(dir, { recursive: true, force: true }),
    };
  },
});
