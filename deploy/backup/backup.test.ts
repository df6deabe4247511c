import { mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import { collection } from "../../services/shared/storage/collection.ts";
import { openStore } from "../../services/shared/storage/open.ts";
import { put, type Store } from "../../services/shared/storage/port.ts";
import { describeWithProcesses } from "../../services/shared/testkit/describe.ts";
import { startProgram } from "../../services/shared/testkit/process.ts";

const rows = collection({
  name: "rows",
  fields: { block: "int", text: "text" },
  key: ["block"],
  indexes: [{ fields: ["text"] }],
  shardKey: ["block"],
});
const checkpoints = collection({
  name: "checkpoints",
  fields: { chainId: "int", block: "int" },
  key: ["chainId"],
  indexes: [],
  shardKey: ["chainId"],
});

describeWithProcesses("npm run backup and npm run restore", () => {
  let folder: string;
  const opened: Store[] = [];
  const at = (...parts: string[]) => join(folder, ...parts);
  async function run(command: string, dataDir: string, ...args: string[]) {
    const { exited, lines } = startProgram("deploy/backup/main.ts", {
      env: { DATA_DIR: dataDir },
      args: [command, ...args],
    });
    const { code } = await exited;
    return { code, text: lines.join("\n") };
  }
  const openAt = async (dataDir: string, service: string): Promise<Store> => {
    const store = await openStore({ service, dataDir });
    opened.push(store);
    await store.declare([rows, checkpoints]);
    return store;
  };
  /** As an ingest does: rows and checkpoint in one write. */
  const writeBlock = (store: Store, block: number) =>
    store.write([put(rows, [{ block, text: `block ${block}` }]), put(checkpoints, [{ chainId: 1, block }])]);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "backup-"));
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("give back one state of each store, though it was written meanwhile and most was in its log", async () => {
    const store = await openAt(at("data"), "evm-dex");
    const keys = await openAt(at("data"), "gateway");
    await keys.write([put(rows, [{ block: 1, text: "a key" }])]);
    let block = 0;
    let isOver = false;
    const writing = (async () => {
      while (!isOver) {
        await writeBlock(store, ++block);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    while (block < 50) await new Promise((resolve) => setTimeout(resolve, 5));
    const made = await run("backup", at("data"), "--to", at("copy"));
    const after = block;
    isOver = true;
    await writing;
    expect(made.code, made.text).to.equal(0);
    expect(await readdir(at("copy"))).to.have.members(["backup.json", "evm-dex.sqlite", "gateway.sqlite"]);

    const refused = await run("restore", at("data"), "--from", at("copy"));
    expect([refused.code, refused.text.includes("nothing is overwritten")], refused.text).to.deep.equal([
      1,
      true,
    ]);
    const restored = await run("restore", at("again"), "--from", at("copy"));
    expect(restored.code, restored.text).to.equal(0);
    const again = await openAt(at("again"), "evm-dex");
    const checkpoint = (await again.get(checkpoints, { chainId: 1 }))?.block ?? 0;
    expect(checkpoint).to.be.within(50, after);
    const found = await again.find(rows, {});
    expect(found).to.deep.equal(
      Array.from({ length: checkpoint }, (_, i) => ({ block: i + 1, text: `block ${i + 1}` })),
    );
    expect(await (await openAt(at("again"), "gateway")).count(rows, {})).to.equal(1);
    const checked = await run("check", at("again"));
    expect([checked.code, checked.text.includes("evm-dex.sqlite: ok")], checked.text).to.deep.equal([
      0,
      true,
    ]);
  });

  it("into a folder of backups: the newest are kept, a failure removes none", async () => {
    const backUp = (dataDir: string) => run("backup", at(dataDir), "--into", at("all"), "--keep", "1");
    const store = await openAt(at("data"), "solana");
    for (const block of [1, 2]) {
      await writeBlock(store, block);
      const { code, text } = await backUp("data");
      expect(code, text).to.equal(0);
      const ended = (word: string) =>
        [...text.matchAll(new RegExp(`(\\S+) is ${word}\\.$`, "gm"))].map(([, made]) => made);
      expect(ended("removed")).to.have.length(block - 1);
      const [made = ""] = ended("whole");
      expect(await readdir(at("all"))).to.deep.equal([basename(made)]);
      // They are named by the second.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    const failed = await backUp("nothing");
    expect([failed.code, failed.text.includes("There is no store")], failed.text).to.deep.equal([1, true]);
    const [left = ""] = await readdir(at("all"));
    const restored = await run("restore", at("again"), "--from", at("all", left));
    expect(restored.code, restored.text).to.equal(0);
    expect(await (await openAt(at("again"), "solana")).count(rows, {})).to.equal(2);
  });

  it("refuse a backup that was cut short or changed, a full folder, and wrong calls", async () => {
    const store = await openAt(at("data"), "solana");
    await writeBlock(store, 1);
    await writeFile(at("full"), "");
    for (const [args, code, words] of [
      [["backup", at("none"), "--to", at("copy")], 1, "There is no store"],
      [["backup", at("data")], 2, "--to is missing, or --into"],
      [["restore", at("new"), "--from", at("nowhere")], 1, "no whole backup"],
      [["copy", at("data")], 2, "there is no command copy"],
    ] as const) {
      const [command, dataDir, ...rest] = args;
      const ended = await run(command, dataDir, ...rest);
      expect([ended.code, ended.text.includes(words)], ended.text).to.deep.equal([code, true]);
    }
    expect((await run("backup", at("data"), "--to", at("copy"))).code).to.equal(0);
    const twice = await run("backup", at("data"), "--to", at("copy"));
    expect([twice.code, twice.text.includes("it is not empty")], twice.text).to.deep.equal([1, true]);
    const file = await open(at("copy", "solana.sqlite"), "r+");
    await file.write(Buffer.from("x"), 0, 1, 5_000);
    await file.close();
    const changed = await run("restore", at("new"), "--from", at("copy"));
    expect([changed.code, changed.text.includes("not what was backed up")], changed.text).to.deep.equal([
      1,
      true,
    ]);
  });
});
