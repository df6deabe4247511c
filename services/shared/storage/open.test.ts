import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { describe, it } from "mocha";
import { openStore } from "./open.ts";

describe("open store", () => {
  it("opens one SQLite file for each service, in a folder that it creates", async () => {
    const dir = await mkdtemp(join(tmpdir(), "store-"));
    const dataDir = join(dir, "deep", "data");
    const store = await openStore({ service: "evm-dex", dataDir });
    expect(store.engine).to.equal("sqlite");
    await access(join(dataDir, "evm-dex.sqlite"));
    await store.close();
    await rm(dir, { recursive: true });
  });

  it("refuses a service name that is no plain name", async () => {
    for (const service of ["../x", "A", "", "a/b"]) {
      expect(await openStore({ service, dataDir: "." }).catch((error: unknown) => error)).to.be.instanceOf(
        TypeError,
      );
    }
  });

  it("opens the database named after the service when there is a MongoDB", async function () {
    const mongodbUrl = process.env.MONGODB_URL;
    if (mongodbUrl === undefined) {
      console.log("      pending: MONGODB_URL is not set, so there is no server to run against");
      return this.skip();
    }
    const store = await openStore({ service: "open-test", mongodbUrl, dataDir: "." });
    expect(store.engine).to.equal("mongodb");
    expect(await store.declare([]).then(() => "declared")).to.equal("declared");
    await store.close();
  });

  it("says that the server does not answer, without the URL's password", async () => {
    const mongodbUrl = "mongodb://user:secret@127.0.0.1:9/?serverSelectionTimeoutMS=200";
    const error = await openStore({ service: "evm-dex", mongodbUrl, dataDir: "." }).catch(
      (reason: unknown) => reason,
    );
    expect(String(error)).to.contain("Cannot reach MongoDB").and.not.contain("secret");
  });
});
