import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { build, listDataFiles, listEntries } from "./build.ts";
import { ROOT } from "./command.ts";

describe("data files of the build", () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "build-"));
    for (const path of [
      "gateway/main.ts",
      "gateway/auth/limits/gcra.lua",
      "services/a/tokens.json",
      "services/a/tokens.test.ts",
      "services/a/test/fixtures/block.json",
      "services/a/bench/data.json",
      "services/a/README.md",
      "proto/status.proto",
      "deploy/secret.json",
      "deploy/doctor/chains.json",
      "deploy/doctor/doctor.test.ts",
      "deploy/doctor/testkit/node.json",
    ]) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), "");
    }
  });
  after(() => rm(root, { recursive: true, force: true }));

  it("are what production may read: no sources, tests, benches or notes, and of deploy what the doctor reads", () =>
    expect(listDataFiles(root).sort()).to.deep.equal([
      "deploy/doctor/chains.json",
      "gateway/auth/limits/gcra.lua",
      "proto/status.proto",
      "services/a/tokens.json",
    ]));

  it("are found when the folder is given with a slash at its end", () =>
    expect(listDataFiles(`${root}/`)).to.include("proto/status.proto"));
});

describe("the build", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "build-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it("has a file at the place of each program and thread, and of nothing else", async () => {
    const entries = listEntries(ROOT);
    expect(entries).to.include.members([
      "gateway/main.ts",
      "gateway/cli/keys.ts",
      "services/solana/ingest/main.ts",
      "services/shared/evm/thread/thread.worker.ts",
    ]);
    expect(
      entries.filter((path) => /\.(test|bench)\.|\/testkit\/|^(bench|deploy|proto)/.test(path)),
    ).to.deep.equal(["deploy/backup/main.ts", "deploy/doctor/main.ts", "deploy/reindex/main.ts"]);
    expect(await build(folder)).to.deep.equal([]);
    const built = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith(".js"));
    // What browsers run is data here: it is served as it is.
    const isOurs = (path: string) =>
      !path.startsWith("bundle/") && !path.startsWith("gateway/explorer/browser/");
    const places = built.filter(isOurs).sort();
    expect(places).to.deep.equal(entries.map((path) => path.replace(/\.ts$/, ".js")));
  });

  it("looks for files at the same places as the sources", async () => {
    const files = (await readdir(join(folder, "bundle"))).filter((name) => name.endsWith(".js"));
    const texts = await Promise.all(files.map((name) => readFile(join(folder, "bundle", name), "utf8")));
    const looked = texts.flatMap((text) =>
      [
        ...text.matchAll(/new URL\(\s*"(\.\.?\/[^"]+)",\s*new URL\("(\.\.\/[^"]+)", import\.meta\.url\)/g),
      ].map(([, name = "", place = ""]) => join("bundle", dirname(place), name)),
    );
    expect(looked).to.include.members(["proto/", "services/evm-dex/deployments.json"]);
    for (const path of looked) expect(await stat(join(folder, path)), path).to.be.an("object");
  });

  it("reports what is wrong with the sources", async () => {
    const broken = join(folder, "broken");
    await mkdir(join(broken, "gateway"), { recursive: true });
    await writeFile(
      join(broken, "package.json"),
      JSON.stringify({ scripts: { gateway: "node --import tsx gateway/main.ts" } }),
    );
    await writeFile(join(broken, "gateway/main.ts"), 'import "./nowhere.ts";');
    const faults = await build(join(broken, "dist"), { root: broken });
    expect(faults.join()).to.contain('Could not resolve "./nowhere.ts"');
  });
});
