import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { describe, it } from "mocha";
import { openConnection } from "./open-connection.ts";

/** SQLite's PRAGMA synchronous: 0 = OFF, 1 = NORMAL, 2 = FULL. */
async function synchronousOf(options: { survivesPowerCut?: boolean }): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), "chaintables-connection-"));
  const connection = await openConnection({ path: join(folder, "any.sqlite"), ...options });
  try {
    return connection.all("PRAGMA synchronous")[0]?.[0];
  } finally {
    connection.close();
    await rm(folder, { recursive: true });
  }
}

describe("a connection to an SQLite file", () => {
  it("waits for the disk where its file must survive a power cut, which is the default", async () => {
    expect(await synchronousOf({})).to.equal(1);
    expect(await synchronousOf({ survivesPowerCut: true })).to.equal(1);
    expect(await synchronousOf({ survivesPowerCut: false })).to.equal(0);
  });
});
