import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { LineWriter } from "./line-writer.ts";

describe("logging/line-writer", () => {
  let folder: string;
  let reader: number;
  let writer: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "chaintables-lines-"));
    const path = join(folder, "pipe");
    execFileSync("mkfifo", [path]);
    reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    writer = openSync(path, constants.O_WRONLY);
  });
  afterEach(() => {
    closeSync(writer);
    rmSync(folder, { recursive: true, force: true });
  });

  const readAll = () => {
    const bytes = Buffer.alloc(1_000);
    return bytes.toString("utf8", 0, readSync(reader, bytes));
  };

  it("writes the lines of a turn together, at its end or when flushed", async () => {
    const batch = new LineWriter(writer);
    batch.write("a\n");
    batch.write("é\n");
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(readAll()).to.equal("a\né\n");
    batch.write("b\n");
    batch.flushSync();
    expect(readAll()).to.equal("b\n");
    closeSync(reader);
  });

  it("writes what follows at once together, some milliseconds later", async () => {
    /** Whether all was written within less than the milliseconds that the writer waits: not so on a busy machine. */
    const writeQuickly = async () => {
      const batch = new LineWriter(writer);
      const startedMs = performance.now();
      batch.write("first\n");
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      for (let turn = 0; turn < 3; turn += 1) {
        batch.write(`${turn}\n`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      const isQuick = performance.now() - startedMs < 3;
      if (isQuick) return true;
      batch.flushSync();
      readAll();
      return false;
    };
    let tries = 0;
    while (!(await writeQuickly())) expect(++tries, "tries").to.be.below(1_000);
    expect(readAll()).to.equal("first\n");
    const waited = performance.now();
    let text = "";
    while (text === "" && performance.now() - waited < 1_000) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      try {
        text = readAll();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      }
    }
    expect(text).to.equal("0\n1\n2\n");
    closeSync(reader);
  });

  it("loses lines without a reader, and nothing else", () => {
    closeSync(reader);
    const batch = new LineWriter(writer);
    for (let line = 0; line < 2_000; line += 1) batch.write("unread\n");
    batch.flushSync();
    reader = openSync(join(folder, "pipe"), constants.O_RDONLY | constants.O_NONBLOCK);
    batch.write("received\n");
    batch.flushSync();
    expect(readAll()).to.equal("received\n");
    closeSync(reader);
  });
});
