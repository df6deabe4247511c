import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { collection } from "../collection.ts";
import { isDamaged } from "../damage.ts";
import { put } from "../port.ts";
import { openDatabase } from "./driver.ts";
import { openSqliteStore } from "./store.ts";

const notes = collection({
  name: "notes",
  fields: { id: "int", text: "text" },
  key: ["id"],
  indexes: [],
  shardKey: ["id"],
});

describe("a damaged SQLite file", () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "damage-"));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it("is known from the first read that finds it on, while other reads still succeed", async () => {
    const path = join(dir, "store.sqlite");
    const whole = await openSqliteStore({ path });
    await whole.declare([notes]);
    const rows = Array.from({ length: 4_000 }, (_, id) => ({ id, text: "x".repeat(200) }));
    await whole.write([put(notes, rows)]);
    expect(whole.damage).to.equal(undefined);
    await whole.close();
    const file = await openDatabase(path);
    file.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    file.close();
    const { size } = await stat(path);
    const pages = await open(path, "r+");
    // The second half, so that the first rows and the list of tables stay.
    await pages.write(Buffer.alloc(Math.floor(size / 2), 0x5a), 0, undefined, Math.ceil(size / 2));
    await pages.close();

    const store = await openSqliteStore({ path });
    await store.declare([notes]);
    expect(store.damage).to.equal(undefined);
    const error = await store.find(notes, {}).catch((reason: unknown) => reason);
    expect(isDamaged(error), String(error)).to.equal(true);
    expect(store.damage).to.contain("malformed");
    await store.close();
  });
});
