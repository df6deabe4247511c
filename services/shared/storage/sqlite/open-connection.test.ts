import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { describe, it } from "mocha";
import { openDatabase } from "./driver.ts";
import { openConnection, type SqliteOptions } from "./open-connection.ts";

async function settingOf(name: string, options: Omit<SqliteOptions, "path">): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), "chaintables-connection-"));
  const connection = await openConnection({ path: join(folder, "any.sqlite"), ...options });
  try {
    return connection.all(`PRAGMA ${name}`)[0]?.[0];
  } finally {
    connection.close();
    await rm(folder, { recursive: true });
  }
}

describe("a connection to an SQLite file", () => {
  it("waits for the disk where its file must survive a power cut, which is the default", async () => {
    // 0 = OFF, 1 = NORMAL, 2 = FULL.
    expect(await settingOf("synchronous", {})).to.equal(1);
    expect(await settingOf("synchronous", { survivesPowerCut: true })).to.equal(1);
    expect(await settingOf("synchronous", { survivesPowerCut: false })).to.equal(0);
  });

  it("keeps as many kilobytes of pages as it is told, 32 MB by default", async () => {
    // Negative: kilobytes, not pages.
    expect(await settingOf("cache_size", {})).to.equal(-32_768);
    expect(await settingOf("cache_size", { cacheKb: 4_096 })).to.equal(-4_096);
  });

  it("makes files of the pages that it is told, keeps those of an older one, and the log as long", async () => {
    const folder = await mkdtemp(join(tmpdir(), "chaintables-connection-"));
    try {
      const older = await openDatabase(join(folder, "older.sqlite"));
      older.exec("PRAGMA page_size = 8192");
      older.exec("CREATE TABLE any (value TEXT)");
      older.close();
      for (const [name, pageBytes] of [
        ["newer.sqlite", 4096],
        ["older.sqlite", 8192],
      ] as const) {
        const connection = await openConnection({
          path: join(folder, name),
          logBytes: 2 ** 20,
          pageBytes: 4_096,
        });
        expect(connection.all("PRAGMA page_size")).to.deep.equal([[pageBytes]]);
        const [[pages] = []] = connection.all("PRAGMA wal_autocheckpoint");
        expect((pages as number) * pageBytes).to.be.within(0.95 * 2 ** 20, 2 ** 20);
        connection.close();
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
