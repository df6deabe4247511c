import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import fc from "fast-check";
import { afterEach, beforeEach, it } from "mocha";
import { describeWithProcesses, randomRuns } from "../../../testkit/describe.ts";
import { compileCollection } from "../../declaration.ts";
import {
  ConflictError,
  put,
  remove,
  removeWhere,
  requireRow,
  type Store,
  type WriteStep,
} from "../../port.ts";
import { anySample, sample, samples } from "../../suite/sample.ts";
import { type Operation, operationsOf } from "../operations.ts";
import { entryOf } from "../rows.ts";
import type { Change } from "../sql.ts";
import { openSqliteStore } from "../store.ts";
import { startWriteThread, startWriteWorker } from "./write-thread.ts";

/** Is up, and dies of its first request. */
const DYING = `
  const { parentPort } = require("node:worker_threads");
  parentPort.once("message", () => {
    parentPort.once("message", () => { throw new Error("out of memory"); });
    parentPort.postMessage({ kind: "ready" });
  });
`;

describeWithProcesses("the thread that writes", () => {
  let folder: string;
  let path: string;
  let store: Store;
  let thread: ReturnType<typeof startWriteThread>;
  let reasons: string[];
  const entry = entryOf(compileCollection(samples));
  const write = (steps: readonly WriteStep[]) =>
    thread.run(steps.flatMap((step) => operationsOf(entry, step)));

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "chaintables-write-thread-"));
    path = join(folder, "test.sqlite");
    store = await openSqliteStore({ path });
    await store.declare([samples]);
    reasons = [];
    const worker = startWriteWorker();
    const isUp = once(worker, "message");
    thread = startWriteThread(
      { path },
      {
        here: () => Promise.reject(new Error("This is the main thread.")),
        changeHere: () => Promise.reject(new Error("This is the main thread.")),
        onFailure: (reason) => reasons.push(reason),
        startWorker: () => worker,
      },
    );
    await isUp;
  });
  afterEach(async () => {
    await thread.close();
    await store.close();
    await rm(folder, { recursive: true });
    expect(reasons).to.deep.equal([]);
  });

  const manyRows = (count: number) =>
    put(
      samples,
      Array.from({ length: count }, (_, i) => sample(10 + i)),
    );
  const all = () => store.find(samples, { filter: {} });
  const failureOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);

  it("stores what the store itself would, of any values, and other connections see it", async () => {
    const twin = await openSqliteStore({ path: ":memory:" });
    await twin.declare([samples]);
    const both = async (stepsFor: (target: Store) => WriteStep[]) => {
      await write(stepsFor(store));
      await twin.write(stepsFor(twin));
    };
    await fc.assert(
      fc.asyncProperty(fc.array(anySample, { maxLength: 80 }), fc.array(anySample), async (rows, listed) => {
        await both((target) => {
          const list = target.openRows(samples, "dex");
          for (const row of listed) list.add(row);
          const gone = rows.slice(0, 3);
          return [
            put(samples, rows),
            remove(
              samples,
              gone.map(({ chainId, address }) => ({ chainId, address })),
            ),
            put(samples, list.take()),
            removeWhere(samples, { blockTime: 1 }),
          ];
        });
        expect(await all()).to.deep.equal(await twin.find(samples, { filter: {} }));
      }),
      { numRuns: randomRuns(40) },
    );
    await twin.close();
  });

  it("takes rows as they are when it is asked to write", async () => {
    const row = sample(1);
    const written = write([put(samples, [row])]);
    row.symbol = "changed";
    await written;
    expect(await all()).to.deep.equal([sample(1)]);
  });

  it("leaves this thread free while it writes", async () => {
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 1);
    const rows = Array.from({ length: 20_000 }, (_, i) => sample(i));
    const written = write([put(samples, rows)]);
    const before = ticks;
    await written;
    clearInterval(timer);
    expect(await store.count(samples, {})).to.equal(rows.length);
    expect(ticks - before).to.be.greaterThan(3);
  });

  it("writes all or nothing, and says which row was not as required", async () => {
    const absent = requireRow(samples, { chainId: 8453, address: "none" }, {});
    const error = await failureOf(write([put(samples, [sample(1)]), absent]));
    expect(error).to.be.instanceOf(ConflictError);
    expect((error as ConflictError).message).to.include("samples");
    expect(await all()).to.deep.equal([]);
    await write([put(samples, [sample(2)])]);
    expect(await all()).to.deep.equal([sample(2)]);
  });

  it("keeps nothing of a write with a value that no field can hold", async () => {
    const wrong = { ...sample(2), price: Number.NaN };
    expect(await failureOf(write([put(samples, [sample(1), wrong])]))).to.be.instanceOf(TypeError);
    await write([put(samples, [sample(3)])]);
    expect(await all()).to.deep.equal([sample(3)]);
  });

  it("waits for the lock of another writer", async () => {
    const other = await openSqliteStore({ path });
    await other.declare([samples]);
    const rows = Array.from({ length: 3_000 }, (_, i) => sample(i));
    await Promise.all([
      ...Array.from({ length: 10 }, (_, i) => other.write([put(samples, [sample(10_000 + i)])])),
      write([put(samples, rows)]),
    ]);
    expect(await store.count(samples, {})).to.equal(3_010);
    await other.close();
  });

  it("is what a store's bulk writer uses", async () => {
    const writer = store.openBulkWriter((reason) => reasons.push(reason));
    await writer.write([put(samples, [sample(1)])]);
    await writer.close();
    expect(await all()).to.deep.equal([sample(1)]);
  });

  it("writes and compares rows of others between two writes, and leaves this thread free while they wait", async () => {
    const writer = store.openBulkWriter((reason) => reasons.push(reason));
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 1);
    // Until its thread is up, this one writes.
    do {
      await nextTurn();
      ticks = 0;
      await writer.write([manyRows(5_000)]);
    } while (ticks < 10);
    const row = sample(1, { tick: 1 });
    const renewed = { ...row, tick: 2 };
    await writer.write([put(samples, [row])]);
    const done: string[] = [];
    const note = (name: string) => (value: unknown) => {
      done.push(`${name} ${value}`);
    };
    const { chainId, address } = row;
    const isRenewed = requireRow(samples, { chainId, address }, { tick: 2 });
    const other = sample(2);
    const isThere = requireRow(samples, { chainId: other.chainId, address: other.address }, {});
    const writes = [
      writer.write([manyRows(20_000)]).then(note("first")),
      store.write([put(samples, [other])]).then(note("other")),
      store.compareAndSet(samples, renewed, { tick: 1 }).then(note("renewed")),
      store.compareAndSet(samples, { ...row, tick: 3 }, { tick: 1 }).then(note("late")),
      writer.write([manyRows(20_000), isRenewed, isThere]).then(note("second")),
    ];
    const before = ticks;
    await Promise.all(writes);
    clearInterval(timer);
    const inTurn = ["first undefined", "other undefined", "renewed true", "late false", "second undefined"];
    expect(done).to.deep.equal(inTurn);
    expect(ticks - before).to.be.greaterThan(3);
    await writer.close();
    expect(await store.compareAndSet(samples, row, { tick: 2 }), "without the writer").to.equal(true);
  });

  it("leaves to the main thread what it had not written when it died, and all after that", async () => {
    const here: (readonly Operation[])[] = [];
    const changed: Change[] = [];
    const told: string[] = [];
    const worker = new Worker(DYING, { eval: true });
    const isUp = once(worker, "message");
    const dying = startWriteThread(
      { path },
      {
        here: async (operations) => void here.push(operations),
        changeHere: async (statement) => changed.push(statement),
        onFailure: (reason) => told.push(reason),
        startWorker: () => worker,
      },
    );
    await isUp;
    const one: Operation = { kind: "each", text: "SELECT ?", params: [[1]] };
    await dying.run([one]);
    expect(told).to.deep.equal(["Error: out of memory"]);
    await dying.run([one, one]);
    expect(here).to.deep.equal([[one], [one, one]]);
    const statement = { text: "SELECT ?", params: [1] };
    expect(await dying.change(statement)).to.equal(1);
    expect(changed).to.deep.equal([statement]);
    await dying.close();
  });
});
