import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import { describeWithProcesses, randomRuns } from "../testkit/describe.ts";
import type { Store } from "./port.ts";
import { openDatabase, readPragma } from "./sqlite/driver.ts";
import { openSqliteStore } from "./sqlite/store.ts";
import { counters, marks } from "./testkit/count-up.ts";
import { GENERATION_ROWS, generations } from "./testkit/generations.ts";

describeWithProcesses("sqlite between processes", () => {
  let dir: string;
  let path: string;
  let children: ChildProcess[];
  let stores: Store[];

  const open = async (options: { readOnly?: boolean } = {}): Promise<Store> => {
    const store = await openSqliteStore({ path, ...options });
    stores.push(store);
    return store;
  };
  const start = (script: string, ...args: string[]): ChildProcess => {
    const file = fileURLToPath(new URL(script, import.meta.url));
    const runtime = "Deno" in globalThis ? ["run", "-A", "--quiet", file] : ["--import", "tsx", file];
    const child = spawn(execPath, [...runtime, "--path", path, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    return child;
  };
  /** The generations that the child has said it wrote, up to now. */
  const follow = (
    child: ChildProcess,
  ): { last: () => number; reached: (generation: number) => Promise<void>; kill: () => Promise<void> } => {
    let text = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    const closed = once(child, "close");
    const last = (): number => Number(text.split("\n").at(-2) ?? 0);
    const reached = async (generation: number): Promise<void> => {
      while (last() < generation) {
        if (child.exitCode !== null) throw new Error(`the writer ended early with code ${child.exitCode}`);
        await Promise.race([once(child.stdout as NodeJS.EventEmitter, "data"), closed]);
      }
    };
    /** Kills it, and hears the last of what it had said. */
    const kill = async (): Promise<void> => {
      child.kill("SIGKILL");
      await closed;
    };
    return { last, reached, kill };
  };

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "store-"));
    path = join(dir, "store.sqlite");
    children = [];
    stores = [];
  });
  afterEach(async () => {
    for (const child of children) child.kill("SIGKILL");
    for (const store of stores) await store.close();
    await rm(dir, { recursive: true, force: true });
  });

  it("compareAndSet loses no step of several processes", async () => {
    const workers = ["a", "b", "c"];
    const times = 150;
    const running = workers.map((worker) => start("./testkit/count-up.ts", worker, String(times)));
    const codes = await Promise.all(running.map(async (child) => (await once(child, "exit"))[0] as number));
    expect(codes).to.deep.equal([0, 0, 0]);
    const store = await open();
    await store.declare([counters, marks]);
    expect(await store.get(counters, { name: "shared" })).to.deep.equal({
      name: "shared",
      value: workers.length * times,
    });
    for (const worker of workers) expect(await store.count(marks, { worker })).to.equal(times);
  });

  it("readers see a write whole or not at all, while it goes on", async () => {
    const writer = start("./testkit/generations.ts");
    const progress = follow(writer);
    await progress.reached(1);
    const reader = await open({ readOnly: true });
    await reader.declare([generations]);
    const seen = new Set<number>();
    for (let read = 0; read < 150 || seen.size < 3; read++) {
      const rows = await reader.find(generations, { fields: ["generation"] });
      const distinct = new Set(rows.map((row) => row.generation));
      expect([rows.length, distinct.size]).to.deep.equal([GENERATION_ROWS, 1]);
      for (const generation of distinct) seen.add(generation);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  it("a process killed in the middle of a write leaves all of it or nothing", async () => {
    for (let kill = 0; kill < randomRuns(8); kill++) {
      const writer = start("./testkit/generations.ts");
      const progress = follow(writer);
      await progress.reached(2 + kill);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
      await progress.kill();
      const store = await open();
      await store.declare([generations]);
      const rows = await store.find(generations, { fields: ["generation"] });
      const [generation] = rows;
      expect(rows).to.deep.equal(Array.from({ length: GENERATION_ROWS }, () => generation));
      // What was acknowledged is there; one more write may have been done unreported.
      expect(generation?.generation).to.be.within(progress.last(), progress.last() + 1);
    }
  });

  it("a write waits for another process's transaction without blocking its own process", async () => {
    const [one, two] = [await open(), await open()];
    for (const store of [one, two]) await store.declare([counters]);
    const holder = await openDatabase(path);
    holder.exec("BEGIN IMMEDIATE");
    const writes = [one, two].map((store, i) =>
      store.compareAndSet(counters, { name: `${i}`, value: 1 }, null),
    );
    expect(
      await Promise.race([...writes, new Promise((resolve) => setTimeout(resolve, 60, "waiting"))]),
    ).to.equal("waiting");
    expect(await one.count(counters, {})).to.equal(0);
    holder.exec("COMMIT");
    holder.close();
    expect(await Promise.all(writes)).to.deep.equal([true, true]);
  });

  it("a write gives up after the time it was given", async () => {
    const store = await openSqliteStore({ path, busyTimeoutMs: 30 });
    stores.push(store);
    await store.declare([counters]);
    const holder = await openDatabase(path);
    holder.exec("BEGIN IMMEDIATE");
    const error = await store
      .compareAndSet(counters, { name: "a", value: 1 }, null)
      .catch((reason: unknown) => reason);
    holder.close();
    expect(String(error)).to.contain("locked");
  });

  it("reading leaves nothing open: the log can be emptied and the table dropped", async () => {
    const store = await open();
    await store.declare([counters]);
    await store.compareAndSet(counters, { name: "a", value: 1 }, null);
    await store.get(counters, { name: "a" });
    await store.getMany(counters, [{ name: "a" }, { name: "b" }]);
    await store.find(counters, { limit: 1 });
    await store.count(counters, {});
    const other = await openDatabase(path);
    // Its first column: busy.
    expect(readPragma(other, "wal_checkpoint(TRUNCATE)")).to.equal(0);
    other.exec("DROP TABLE counters");
    other.close();
  });

  it("a read-only store reads, refuses to write, and needs a file", async () => {
    expect(String(await open({ readOnly: true }).catch((error: unknown) => error))).to.contain(
      "there is no such file",
    );
    const writer = await open();
    await writer.declare([counters]);
    await writer.compareAndSet(counters, { name: "a", value: 1 }, null);
    const reader = await open({ readOnly: true });
    await reader.declare([counters]);
    expect(await reader.find(counters, {})).to.deep.equal([{ name: "a", value: 1 }]);
    expect(
      await reader.compareAndSet(counters, { name: "b", value: 1 }, null).catch((error: unknown) => error),
    ).to.be.instanceOf(Error);
    expect(String(await reader.declare([marks]).catch((error: unknown) => error))).to.contain('"marks"');
  });

  it("says which file it cannot open", async () => {
    const { writeFile } = await import("node:fs/promises");
    await writeFile(
      path,
      "this is no database, and it is long enough to be taken for one at first sight ".repeat(20),
    );
    expect(String(await open().catch((error: unknown) => error))).to.contain(
      `Cannot open the SQLite file ${path}`,
    );
  });
});
