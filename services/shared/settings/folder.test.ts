import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { describe, it } from "mocha";
import { ConfigError } from "./env.ts";
import { ensureWritableFolder, makeFolder } from "./folder.ts";

describe("settings/folder", () => {
  it("makes parents, twice at the same time too, and leaves nothing of its probe", async () => {
    const root = await mkdtemp(join(tmpdir(), "folder-"));
    try {
      const path = join(root, "a", "b", "c");
      await Promise.all([makeFolder(path), makeFolder(path), ensureWritableFolder("DATA_DIR", path)]);
      expect(await readdir(path)).to.deep.equal([]);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });

  it("reports in one sentence that a file is in the way", async () => {
    const root = await mkdtemp(join(tmpdir(), "folder-"));
    try {
      const file = join(root, "file");
      await writeFile(file, "");
      for (const path of [file, join(file, "below")]) {
        const error = await ensureWritableFolder("DATA_DIR", path).catch((reason: unknown) => reason);
        expect(error).to.be.instanceOf(ConfigError);
        expect((error as Error).message).to.equal(
          `Cannot use DATA_DIR=${path}: a part of the path is not a folder.`,
        );
      }
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });

  it("does not hang where mkdir's own recursion would", async function () {
    if (!existsSync("/proc/self")) this.skip();
    const error = await ensureWritableFolder("DATA_DIR", "/proc/nope/local").catch(
      (reason: unknown) => reason,
    );
    expect((error as Error).message).to.equal(
      "Cannot use DATA_DIR=/proc/nope/local: the folder cannot be made there.",
    );
  });
});
