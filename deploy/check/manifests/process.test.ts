import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { listProcesses } from "./process.ts";

describe("processes of the tree", () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "processes-"));
    for (const path of [
      "gateway/main.ts",
      "gateway/payments/facilitator/main.ts",
      "services/shared/main.ts",
      "services/b/main.ts",
      "services/a/ingest/main.ts",
      "services/a/main.ts",
      "services/c/contract.ts",
      "deploy/devnet/main.ts",
    ]) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), "");
    }
  });
  after(() => rm(root, { recursive: true, force: true }));

  it("are the gateway, its facilitator, every service with a main.ts, and their ingests", () => {
    const found = listProcesses(root);
    expect(found.map(({ name, role }) => `${name} as ${role}`)).to.deep.equal([
      "gateway as gateway",
      "facilitator as facilitator",
      "a as a",
      "a-ingest as ingest",
      "b as b",
    ]);
    expect(found[3]).to.include({
      source: "services/a/ingest/main.ts",
      built: "dist/services/a/ingest/main.js",
    });
  });
});
