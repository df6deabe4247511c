import { expect } from "chai";
import { describe, it } from "mocha";
import { put, type Store } from "../storage/port.ts";
import { openSqliteStore } from "../storage/sqlite/store.ts";
import { type IngestStatusRow, ingestStatus } from "./status-row.ts";
import { IngestStatusWatcher } from "./status-watcher.ts";
import { statusRow } from "./testkit/status-row.ts";

const WALL_MS = 1_700_000_000_000;

describe("IngestStatusWatcher", () => {
  const setUp = async (row?: Partial<IngestStatusRow>) => {
    const store = await openSqliteStore({ path: ":memory:" });
    await store.declare([ingestStatus]);
    const write = (row: Partial<IngestStatusRow>) => store.write([put(ingestStatus, [statusRow(row)])]);
    if (row !== undefined) await write(row);
    const clock = { ms: 5_000 };
    const times = { now: () => WALL_MS, monotonicMs: () => clock.ms, pollMs: 3_600_000 };
    const failures: unknown[] = [];
    const watched: Pick<Store, "get"> = { get: store.get.bind(store) };
    const watch = new IngestStatusWatcher({
      ...{ store: watched, chainIds: [8453], ...times },
      onFailure: (error) => failures.push(error),
    });
    await watch.started;
    const close = async () => {
      watch.close();
      await store.close();
    };
    return { watch, watched, write, clock, failures, close };
  };

  it("knows nothing of a chain that was never reported", async () => {
    const { watch, close } = await setUp();
    expect(watch.current(8453)).to.equal(undefined);
    await close();
  });

  it("takes an ingest for gone that has not written for half a minute, and back when it writes", async () => {
    const { watch, write, clock, close } = await setUp({ updatedAtMs: WALL_MS });
    expect(watch.current(8453)).to.deep.include({ isStale: false });
    clock.ms += 30_001;
    await watch.refresh();
    expect(watch.current(8453)?.isStale).to.equal(true);
    await write({ updatedAtMs: WALL_MS + 1 });
    await watch.refresh();
    expect(watch.current(8453)?.isStale).to.equal(false);
    await close();
  });

  it("compares clocks at the first look only: an ingest whose clock is an hour off is alive", async () => {
    const { watch, write, clock, close } = await setUp({ updatedAtMs: WALL_MS - 3_600_000 });
    expect(watch.current(8453)?.isStale, "left behind by an earlier start, for all that is known").to.equal(
      true,
    );
    clock.ms += 1_000;
    await write({ updatedAtMs: WALL_MS - 3_599_000 });
    await watch.refresh();
    expect(watch.current(8453)?.isStale).to.equal(false);
    await close();
  });

  it("expects no further report of a chain without a source", async () => {
    const { watch, clock, close } = await setUp({ state: "no_source", updatedAtMs: WALL_MS - 9_999_999 });
    clock.ms += 9_999_999;
    expect(watch.current(8453)?.isStale).to.equal(false);
    await close();
  });

  it("keeps what it has seen while the store fails", async () => {
    const { watch, watched, failures, clock, close } = await setUp({ updatedAtMs: WALL_MS });
    watched.get = () => Promise.reject(new Error("the store is down"));
    await watch.refresh();
    expect(failures).to.have.length(1);
    expect(watch.current(8453)?.row.state).to.equal("discovering");
    clock.ms += 30_001;
    expect(watch.current(8453)?.isStale).to.equal(true);
    await close();
  });
});
