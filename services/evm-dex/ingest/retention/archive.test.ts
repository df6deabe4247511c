import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { afterEach, beforeEach, it } from "mocha";
import { finalBlocks } from "../../../shared/evm/finality/finality.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { storeWith } from "../../../shared/storage/within.ts";
import { describeLong, leastCases, randomRuns } from "../../../shared/testkit/describe.ts";
import { DAY, startOf } from "../../metrics/bucket.ts";
import { readIntegers } from "../../protocols/integers.ts";
import { poolEvents } from "../../store/collections.ts";
import { CHAIN_ID, eventRow, openTestStore } from "../../test/kit/rows.ts";
import {
  blockPlans,
  growChain,
  indexBlocks,
  type SmallBlock,
  startCheckpoint,
} from "../../test/kit/small-chain.ts";
import { archiveDay } from "./archive-day.ts";
import { openRetention } from "./open-retention.ts";
import { RAW_COLLECTIONS, type RawCollection } from "./raw-collections.ts";
import { Retention } from "./retention.ts";

type Row = Record<string, unknown>;
const guard = () => [];

/** Plans of some weeks, three blocks a day. */
const plans = fc
  .array(blockPlans(10), { minLength: 2, maxLength: 5 })
  .map((parts) => parts.flat().map((block) => ({ ...block, seconds: block.seconds + 30_000 })));

describeLong("archive of removed days", () => {
  let folder: string;
  let stores: Store[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "archive-"));
    stores = [];
  });
  afterEach(async () => {
    rmSync(folder, { recursive: true, force: true });
    for (const store of stores) await store.close();
  });

  async function indexed(chain: readonly SmallBlock[]) {
    const store = await openTestStore();
    stores.push(store);
    const checkpoint = await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
    const { hash, number, time } = (chain.at(-1) as SmallBlock).block;
    await store.write([put(finalBlocks, [{ chainId: CHAIN_ID, number, hash, time }])]);
    return { store, checkpoint };
  }

  const namesIn = (name: string) => {
    try {
      return readdirSync(join(folder, String(CHAIN_ID), name)).sort();
    } catch {
      return [];
    }
  };

  async function readFiles({ collection }: RawCollection): Promise<Row[]> {
    const rows: Row[] = [];
    for (const name of namesIn(collection.name)) {
      const path = join(folder, String(CHAIN_ID), collection.name, name);
      const file = await asyncBufferFromFile(path);
      for (const row of await parquetReadObjects({ file })) rows.push({ ...row, name });
    }
    return rows;
  }

  /** A stored row as its file has it. */
  function archived(row: Row, { collection, times }: RawCollection): Row {
    const copy: Row = {};
    for (const [name, value] of Object.entries(row)) {
      const spec = collection.fields[name] ?? "";
      if (times.includes(name)) copy[name] = value === null ? null : new Date((value as number) * 1000);
      else if (collection === poolEvents && name === "amounts")
        [copy.amount0, copy.amount1] = readIntegers(value as string).map(String);
      else copy[name] = spec.startsWith("int") && value !== null ? BigInt(value as number) : value;
    }
    return copy;
  }

  it("has every removed row, once, in the file of its day, killed at any step", async () => {
    let files = 0;
    await fc.assert(
      fc.asyncProperty(plans, fc.integer({ min: 1, max: 40 }), async (plan, kill) => {
        rmSync(folder, { recursive: true, force: true });
        const chain = growChain(plan);
        const all = await indexed(chain);
        const { checkpoint, store } = await indexed(chain);
        let steps = 0;
        const archive = (day: Parameters<typeof archiveDay>[2]) =>
          archiveDay(store, { chainId: CHAIN_ID, folder }, day);
        const dying = storeWith(store, {
          write: async (work) => {
            if (++steps > kill) throw new Error("killed");
            await store.write(work);
          },
        });
        const batch = { checkpoint, events: 0, isFollowing: true };
        const options = { guard, chainId: CHAIN_ID, rawDays: 1, rowsAtOnce: 3, budgetMs: 60_000, archive };
        await new Retention({ ...options, store: dying }).afterBatch(batch).catch((error: Error) => {
          if (error.message !== "killed") throw error;
        });
        await new Retention({ ...options, store }).afterBatch(batch);
        const last = chain.findLast(({ block }) => block.events.length > 0)?.block.time ?? 0;
        const bound = startOf(Math.min(checkpoint.blockTime - DAY, last - 300), DAY);
        for (const raw of RAW_COLLECTIONS.filter(({ leastSeconds }) => leastSeconds === 0)) {
          const rows = (await all.store.find(raw.collection, {})) as Row[];
          const old = rows.filter((row) => (row.time as number) < bound);
          const first = startOf(checkpoint.fromTime, DAY);
          const expected = old.map((row) => {
            const day = startOf(row.time as number, DAY);
            const partial = day === first ? ".partial" : "";
            const name = `${new Date(day * 1000).toISOString().slice(0, 10)}${partial}.parquet`;
            return { ...archived(row, raw), name };
          });
          const actual = await readFiles(raw);
          expect(actual, raw.collection.name).to.have.deep.members(expected);
          files += namesIn(raw.collection.name).length;
          expect(namesIn(raw.collection.name).filter((name) => name.endsWith(".tmp"))).to.deep.equal([]);
        }
      }),
      { numRuns: randomRuns(15) },
    );
    expect(files, "runs that archive nothing prove nothing").to.be.at.least(leastCases(50));
  });

  it("keeps rows in order across blocks with more of them than a row group", async () => {
    const store = await openTestStore();
    stores.push(store);
    const rows = Array.from({ length: 2_500 }, (_, i) =>
      eventRow({
        blockNumber: i < 2_300 ? 150 : 151,
        logIndex: i,
        amounts: `-${(2 ** 40 + i).toString(16)} ff`,
      }),
    );
    await store.write([put(poolEvents, rows)]);
    const raw = RAW_COLLECTIONS.find(({ collection }) => collection === poolEvents) as RawCollection;
    const toTime = startOf(1_700_000_100, DAY) + DAY;
    const blocks = { fromBlock: 0, toBlock: 200, fromTime: toTime - DAY, toTime };
    const day = { raw, blocks, isPartial: false };
    for await (const _ of archiveDay(store, { chainId: CHAIN_ID, folder }, day));
    const kept = await readFiles(raw);
    expect(kept.map(({ logIndex }) => logIndex)).to.deep.equal(rows.map(({ logIndex }) => BigInt(logIndex)));
    expect(kept[7]).to.include({
      amount0: String(-(2 ** 40 + 7)),
      amount1: "255",
      name: "2023-11-14.parquet",
    });
  });

  it("removes no raw row while its day cannot be archived, says why, and goes on once it can", async () => {
    const chain = growChain(
      Array.from({ length: 12 }, () => ({
        seconds: 40_000,
        events: [{ pool: 0, kind: 4, user: 1, size: 1 }],
      })),
    );
    const { checkpoint, store } = await indexed(chain);
    const before = await store.count(poolEvents, { chainId: CHAIN_ID });
    const lines: unknown[] = [];
    const log = { warn: (...words: unknown[]) => void lines.push(words) } as never;
    const archiveDir = join(folder, "taken");
    writeFileSync(archiveDir, "");
    const open = () =>
      openRetention({ store, guard, log, chain: { chainId: CHAIN_ID }, keeping: { rawDays: 1, archiveDir } });
    const batch = { checkpoint, events: 1_000, isFollowing: false };
    await open().afterBatch(batch);
    expect(await store.count(poolEvents, { chainId: CHAIN_ID })).to.equal(before);
    expect(JSON.stringify(lines)).to.contain("a day was not archived: its rows stay");
    rmSync(archiveDir);
    await open().afterBatch(batch);
    expect(await store.count(poolEvents, { chainId: CHAIN_ID })).to.be.lessThan(before);
  });
});
