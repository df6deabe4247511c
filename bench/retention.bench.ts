/**
 * npm run bench:retention: what a year of Base fills on SQLite with EVM_RAW_DAYS=8, and what keeping it so costs.
 *
 * A synthetic stretch of days at a hundredth of the size is written and removed day by day, as an ingest does it: its file
 * must stop growing but for what is kept for ever, and no step may take long (CPU time, as other work disturbs the clock).
 * The year is calculated: rows a day of the
 * full size times the bytes of a row, each measured in a file of its own.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { archiveDay } from "../services/evm-dex/ingest/retention/archive-day.ts";
import { Retention } from "../services/evm-dex/ingest/retention/retention.ts";
import {
  COLLECTIONS,
  poolEvents,
  poolUsers,
  priceLinks,
  rollups,
} from "../services/evm-dex/store/collections.ts";
import { SQLITE_FILE } from "../services/evm-dex/store/sqlite-file.ts";
import { lpEvents } from "../services/evm-dex/store/v2-collections.ts";
import type { Collection } from "../services/shared/storage/collection.ts";
import type { Store } from "../services/shared/storage/port.ts";
import { openDatabase, readPragma } from "../services/shared/storage/sqlite/driver.ts";
import { openSqliteStore } from "../services/shared/storage/sqlite/store.ts";
import { recordFigures } from "../services/shared/testkit/bench-record.ts";
import { quantile } from "./stats.ts";
import { BASE_DAY, countBuckets, writeDay } from "./synthetic/month.ts";

const CHAIN_ID = 8453;
const SCALE = Number(process.env.BENCH_SCALE ?? 400);
const DAYS = Number(process.env.BENCH_DAYS ?? 45);
const RAW_DAYS = 8;
const MOST_GB = 100;
const MOST_STEP_MS = 50;

const shape = {
  ...BASE_DAY,
  events: Math.round(BASE_DAY.events / SCALE),
  pools: Math.round(BASE_DAY.pools / SCALE),
};
const dir = mkdtempSync(join(tmpdir(), "chaintables-retention-"));
try {
  const plain = await run({ archives: false });
  const kept = await run({ archives: true, days: RAW_DAYS + 4 });
  const bytes = await bytesOfRows();
  report({ plain, kept, bytes });
} finally {
  rmSync(dir, { recursive: true });
}

interface Run {
  readonly sizesMb: number[];
  readonly stepsMs: number[];
  readonly cpuSeconds: number;
  readonly removed: number;
  readonly archivedRows: number;
  readonly archivedBytes: number;
}

/** Days, each written and then what is due removed; the CPU time is that of the removal. */
async function run({ archives, days = DAYS }: { archives: boolean; days?: number }): Promise<Run> {
  const path = join(dir, `${archives ? "archived" : "plain"}.sqlite`);
  const folder = join(dir, "archive");
  const store = await openSqliteStore({ path, ...SQLITE_FILE });
  await store.declare(COLLECTIONS);
  const retention = new Retention({
    ...{ store, chainId: CHAIN_ID, guard: () => [], rawDays: RAW_DAYS, budgetMs: 0 },
    ...(archives && { archive: (day) => archiveDay(store, { chainId: CHAIN_ID, folder }, day) }),
  });
  const sizesMb: number[] = [];
  const stepsMs: number[] = [];
  let [cpu, removed] = [0, 0];
  for (let day = 0; day < days; day++) {
    const checkpoint = await writeDay(store, { day, shape });
    const before = await countRows(store);
    const started = process.cpuUsage();
    for (let idle = 0; idle < 20; ) {
      const at = process.cpuUsage();
      await retention.afterBatch({ checkpoint, events: 0, isFollowing: true });
      const ms = cpuMs(at);
      stepsMs.push(ms);
      idle = ms < 0.1 ? idle + 1 : 0;
    }
    cpu += cpuMs(started) / 1_000;
    removed += before - (await countRows(store));
    sizesMb.push((await sizeOf(path)) / 2 ** 20);
  }
  await store.close();
  const files = archives
    ? readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
    : [];
  const archivedBytes = files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
  return { sizesMb, stepsMs, cpuSeconds: cpu, removed, archivedRows: archives ? removed : 0, archivedBytes };
}

async function countRows(store: Store): Promise<number> {
  let sum = 0;
  for (const each of [poolEvents, priceLinks, lpEvents, rollups, poolUsers])
    sum += await store.count(each, { chainId: CHAIN_ID });
  return sum;
}

/** Bytes of a row with its indexes, of each collection in a file of its own. */
async function bytesOfRows(): Promise<Record<string, number>> {
  const source = await openSqliteStore({ path: ":memory:" });
  await source.declare(COLLECTIONS);
  const parts = { ...BASE_DAY, events: 100_000, pools: 2_000, links: 1, lpEvents: 1, newUsers: 1 };
  await writeDay(source, { day: 0, shape: parts });
  const bytes: Record<string, number> = {};
  for (const collection of [poolEvents, priceLinks, lpEvents, rollups, poolUsers]) {
    const path = join(dir, `${collection.name}.sqlite`);
    const store = await openSqliteStore({ path, ...SQLITE_FILE });
    await store.declare([collection]);
    const rows = await source.find(collection as Collection, {});
    // In the order of time, as they come: an index by pool is then filled as at the head.
    if (collection === poolUsers || collection === rollups) rows.sort(byTime);
    for (let i = 0; i < rows.length; i += 5_000)
      await store.write([{ kind: "put", collection, rows: rows.slice(i, i + 5_000) }]);
    await store.close();
    bytes[collection.name] = (await sizeOf(path)) / rows.length;
  }
  await source.close();
  return bytes;
}

/** Bytes of the file with all that is written, also what still is in its log. */
async function sizeOf(path: string): Promise<number> {
  const db = await openDatabase(path);
  try {
    return readPragma(db, "page_count") * readPragma(db, "page_size");
  } finally {
    db.close();
  }
}

function cpuMs(since: NodeJS.CpuUsage): number {
  const { system, user } = process.cpuUsage(since);
  return (system + user) / 1_000;
}

function byTime(a: Record<string, unknown>, b: Record<string, unknown>): number {
  const timeOf = (row: Record<string, unknown>) => (row.lastMinute ?? row.start) as number;
  return timeOf(a) - timeOf(b);
}

function report({ bytes, kept, plain }: { plain: Run; kept: Run; bytes: Record<string, number> }): void {
  const buckets = countBuckets(BASE_DAY);
  const { events } = BASE_DAY;
  const day = (name: string, rows: number) => (rows * (bytes[name] ?? 0)) / 1e9;
  const table = [
    { what: "pool_events", gbDay: day(poolEvents.name, events), days: RAW_DAYS + 1 },
    { what: "price_links", gbDay: day(priceLinks.name, events * BASE_DAY.links), days: RAW_DAYS + 1 },
    { what: "lp_events", gbDay: day(lpEvents.name, events * BASE_DAY.lpEvents), days: 32 },
    { what: "rollups, minutes", gbDay: day(rollups.name, buckets.minutes), days: 41 },
    { what: "rollups, hours", gbDay: day(rollups.name, buckets.hours), days: 365 },
    { what: "rollups, days", gbDay: day(rollups.name, buckets.days), days: 365 },
  ];
  const userGb = (share: number) => day(poolUsers.name, events * share) * 365;
  console.log(`\n${"".padEnd(18)} B/row   GB a day   days kept   GB after a year`);
  for (const { days, gbDay, what } of table) {
    const rowBytes = bytes[what.split(",")[0] as string] ?? 0;
    console.log(
      `${what.padEnd(18)} ${rowBytes.toFixed(0).padStart(5)} ${gbDay.toFixed(2).padStart(10)} ${String(days).padStart(11)} ${(gbDay * days).toFixed(1).padStart(17)}`,
    );
  }
  const rest = table.reduce((sum, { days, gbDay }) => sum + days * gbDay, 0);
  console.log(
    `all of these ${rest.toFixed(0)} GB; ${(bytes[poolUsers.name] ?? 0).toFixed(0)} B a user of a pool beside them:`,
  );
  for (const share of [0.02, 0.05, 0.1, 0.2])
    console.log(
      `  a new user of a pool in ${(100 * share).toFixed(0)} % of events: ${userGb(share).toFixed(0)} GB a year, ${(rest + userGb(share)).toFixed(0)} GB in all`,
    );
  const [day10, dayN] = [plain.sizesMb[RAW_DAYS + 2] ?? 0, plain.sizesMb.at(-1) ?? 0];
  const everything = table.reduce((sum, { gbDay }) => sum + gbDay, 0) + userGb(BASE_DAY.newUsers) / 365;
  console.log(
    `\n${DAYS} days at 1/${SCALE}: file ${day10.toFixed(0)} MB after ${RAW_DAYS + 3} days, ${dayN.toFixed(0)} MB after ${DAYS}; without retention ${((((everything * 1e9) / SCALE) * DAYS) / 2 ** 20).toFixed(0)} MB`,
  );
  const perSecond = plain.removed / plain.cpuSeconds;
  const [p99, most] = [quantile(plain.stepsMs, 0.99), Math.max(...plain.stepsMs)];
  console.log(
    `${plain.removed} rows removed, ${perSecond.toFixed(0)} a CPU second; a step takes ${p99.toFixed(1)} ms (p99), ${most.toFixed(1)} ms at most`,
  );
  const archiveMs = quantile(kept.stepsMs, 0.99);
  console.log(
    `with an archive: ${(kept.archivedBytes / kept.archivedRows).toFixed(0)} B a row in Parquet, ${(kept.removed / kept.cpuSeconds).toFixed(0)} rows a CPU second; a step ${archiveMs.toFixed(1)} ms (p99), ${Math.max(...kept.stepsMs).toFixed(1)} ms at most`,
  );
  recordFigures("retention", [
    { name: "a year of Base without users of pools", value: rest, unit: "GB", goal: { atMost: MOST_GB } },
    {
      name: "with a new user of a pool in 5 % of events",
      value: rest + userGb(0.05),
      unit: "GB",
      goal: { atMost: MOST_GB },
    },
    { name: "with a new user of a pool in 20 % of events", value: rest + userGb(0.2), unit: "GB" },
    { name: "a step of removing, p99", value: p99, unit: "ms", goal: { atMost: MOST_STEP_MS } },
    { name: "the same with an archive, p99", value: archiveMs, unit: "ms", goal: { atMost: MOST_STEP_MS } },
    { name: "rows removed a CPU second", value: perSecond, unit: "" },
    { name: "bytes of a row in Parquet", value: kept.archivedBytes / kept.archivedRows, unit: "B" },
  ]);
}
