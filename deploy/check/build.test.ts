import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { listDataFiles } from "./build.ts";

describe("data files of the build", () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "build-"));
    for (const path of [
      "gateway/main.ts",
      "gateway/limits/gcra.lua",
      "services/a/tokens.json",
      "services/a/tokens.test.ts",
      "services/a/test/fixtures/block.json",
      "services/a/bench/data.json",
      "services/a/README.md",
      "proto/status.proto",
      "deploy/secret.json",
    ]) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), "");
    }
  });
  after(() => rm(root, { recursive: true, force: true }));

  it("are what production may read: no sources, tests, benches or notes, and nothing of deploy", () =>
    expect(listDataFiles(root).sort()).to.deep.equal([
      "gateway/limits/gcra.lua",
      "proto/status.proto",
      "services/a/tokens.json",
    ]));

  it("are found when the folder is given with a slash at its end", () =>
    expect(listDataFiles(`${root}/`)).to.include("proto/status.proto"));
});
