import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { collection } from "../../../shared/storage/collection.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { openSqliteStore } from "../../../shared/storage/sqlite/store.ts";
import { COLLECTIONS } from "../../store/collections.ts";
import { type PlannedChunk, ScratchStore } from "./scratch.ts";

const CHAIN_ID = 8453;
const TO = 1_000;
const PLANNED: PlannedChunk = {
  chunk: {
    ...{ chainId: CHAIN_ID, from: { number: 500, time: 3_700 }, start: 3_600, to: TO, warmFrom: 400 },
    detail: "minutes",
  },
  parentHash: "0xparent",
};

describe("the file of a chunk", () => {
  let folder: string;
  let main: Store;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "chaintables-scratch-"));
    main = await openSqliteStore({ path: ":memory:" });
    await main.declare(COLLECTIONS);
  });
  afterEach(async () => {
    await main.close();
    await rm(folder, { recursive: true, force: true });
  });

  const openAt = (boot: string) => ScratchStore.open(main, { folder, chainId: CHAIN_ID, to: TO, boot });

  async function plannedAt(boot: string): Promise<PlannedChunk | undefined> {
    const scratch = await openAt(boot);
    try {
      return await scratch.planned(CHAIN_ID);
    } finally {
      await scratch.close();
    }
  }

  async function writeAt(boot: string): Promise<void> {
    const scratch = await openAt(boot);
    await scratch.plan(PLANNED);
    await scratch.close();
  }

  it("is there for the next process", async () => {
    await writeAt("first");
    expect(await plannedAt("first")).to.deep.equal(PLANNED);
  });

  it("has all events where an earlier version, which knew nothing else, has begun it", async () => {
    const { chunk, parentHash } = PLANNED;
    const former = collection({
      name: "history_chunks",
      fields: {
        ...{
          chainId: "int",
          fromBlock: "int",
          fromTime: "int",
          start: "int",
          toBlock: "int",
          warmFrom: "int",
        },
        ...{ parentHash: "text", boot: "text?" },
      },
      key: ["chainId"],
      indexes: [],
      shardKey: ["chainId"],
    });
    const path = join(folder, `evm-dex-history-${CHAIN_ID}-${TO}.sqlite`);
    const own = await openSqliteStore({ path });
    await own.declare([former]);
    const { from, start, to, warmFrom } = chunk;
    const place = { fromBlock: from.number, fromTime: from.time, start, toBlock: to, warmFrom };
    await own.write([put(former, [{ chainId: CHAIN_ID, ...place, parentHash, boot: "first" }])]);
    await own.close();
    expect(await plannedAt("first")).to.deep.equal({ chunk: { ...chunk, detail: "events" }, parentHash });
  });

  it("is made anew where the machine has started since: what was written last may not have come to the disk", async () => {
    await writeAt("first");
    expect(await plannedAt("second")).to.equal(undefined);
    await writeAt("second");
    expect(await plannedAt("second")).to.deep.equal(PLANNED);
    expect(await plannedAt("first")).to.equal(undefined);
  });

  it("is made anew where it is damaged", async () => {
    await writeAt("first");
    // All that is left of a log may be what another file had there.
    for (const name of await readdir(folder)) await writeFile(join(folder, name), Buffer.alloc(65_536, 0xff));
    expect(await plannedAt("first")).to.equal(undefined);
    await writeAt("first");
    expect(await plannedAt("first")).to.deep.equal(PLANNED);
  });

  it("is not removed where it cannot be opened for another reason", async () => {
    const path = join(folder, "no-folder");
    await writeFile(path, "");
    const opened = ScratchStore.open(main, { folder: path, chainId: CHAIN_ID, to: TO });
    expect(String(await opened.catch((error: unknown) => error))).to.contain("no-folder");
  });
});
