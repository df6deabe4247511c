import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { describe, it } from "mocha";
import { collection } from "../collection.ts";
import { put } from "../port.ts";
import { describeStore } from "../suite.ts";
import { openConnection } from "./open-connection.ts";
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

describe("sqlite hex", () => {
  const fields = { id: "int", pool: "hex" } as const;
  const pools = collection({ name: "pools", fields, key: ["id"], indexes: [], shardKey: ["id"] });
  const earlier = { ...pools, fields: { id: "int", pool: "text" } } as const;
  const row = { id: 1, pool: `0x${"0f".repeat(20)}` };

  for (const [declared, isForgotten, stored] of [
    [pools, false, ["blob", 20]],
    [earlier, false, ["text", 42]],
    [earlier, true, ["blob", 20]],
  ] as const) {
    const since = isForgotten ? ", which are forgotten" : "";
    it(`is ${stored.join(" of ")} bytes where the file was made with ${declared.fields.pool} fields${since}`, async () => {
      const dir = await mkdtemp(join(tmpdir(), "store-"));
      try {
        const path = join(dir, "store.sqlite");
        const made = await openSqliteStore({ path });
        await made.declare([declared]);
        if (isForgotten) expect(await made.forget([declared])).to.equal(true);
        await made.close();
        const store = await openSqliteStore({ path });
        await store.declare([pools]);
        await store.write([put(pools, [row])]);
        expect(await store.find(pools, { filter: { pool: row.pool } })).to.deep.equal([row]);
        await store.close();
        const connection = await openConnection({ path, readOnly: true });
        expect(connection.all("SELECT typeof(pool), length(pool) FROM pools")).to.deep.equal([stored]);
        connection.close();
      } finally {
        await rm(dir, { recursive: true, force: true });
      }
    });
  }
});

describe("sqlite log", () => {
  const notes = collection({
    name: "notes",
    fields: { id: "int", text: "text" },
    key: ["id"],
    indexes: [],
    shardKey: ["id"],
  });

  /** Bytes of the log after the same rows were written again and again, 4 MB of pages in all. */
  async function logAfterWrites(logBytes: number): Promise<number> {
    const dir = await mkdtemp(join(tmpdir(), "store-"));
    try {
      const path = join(dir, "store.sqlite");
      const store = await openSqliteStore({ path, logBytes });
      await store.declare([notes]);
      for (let round = 0; round < 20; round++) {
        const text = `${round}`.padEnd(2_000, "x");
        await store.write([
          put(
            notes,
            Array.from({ length: 100 }, (_, id) => ({ id, text })),
          ),
        ]);
      }
      const { size } = await stat(`${path}-wal`);
      await store.close();
      return size;
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  }

  it("is copied into the file when it has the given length, and begins again", async () => {
    expect(await logAfterWrites(2 ** 19)).to.be.below(2 ** 20);
    expect(await logAfterWrites(2 ** 23)).to.be.above(2 ** 21);
  });
});
