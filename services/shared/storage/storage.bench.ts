/**
 * The hot path of ingest: `node --import tsx services/shared/storage/storage.bench.ts`
 * (with MONGODB_URL, MongoDB too).
 *
 * Rows have 20 fields as a swap has them: 8 text, 4 bigint, 5 int (three of them the key), 3 float; about 500 bytes,
 * one secondary index, batches of 5,000. "numbers" are rows of 20 numbers.
 *
 * Last figures, rows a second on 2 shared cores (Node 20, Deno alike), MongoDB being DocumentDB on the same cores:
 *
 *   sqlite   new rows 48,000 · the same again 52,000 · rows of numbers 96,000 · by key 25,000 · pages of 100: 880
 *   mongodb  new rows 25,000 · the same again 14,500 · rows of numbers 44,000 · by key  1,070 · pages of 100: 61
 *
 * What bounds SQLite is the driver: it takes 0.15 µs to hand over a number and 0.45 µs for a text, so that binding
 * such a row without inserting it is 118,000 a second at best; encoding here is 8 % of the time. Tried and not faster:
 * many rows a statement, one JSON text a batch (half as fast), values cut out of one buffer in SQL, larger pages, a
 * larger cache, no checkpoints. On MongoDB the server is the bound, this process is idle half of the time; page
 * reads are slow on DocumentDB only, which sorts what MongoDB reads from the index in order.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { type Collection, collection } from "./collection.ts";
import { openMongoStore } from "./mongodb/store.ts";
import { put, type Store } from "./port.ts";
import { openSqliteStore } from "./sqlite/store.ts";

const swaps = collection({
  name: "swaps",
  fields: {
    chainId: "int",
    block: "int",
    logIndex: "int",
    blockHash: "text",
    txHash: "text",
    pool: "text",
    sender: "text",
    recipient: "text",
    origin: "text",
    dex: "text",
    kind: "text",
    amount0: "bigint",
    amount1: "bigint",
    sqrtPriceX96: "bigint",
    liquidity: "bigint",
    tick: "int",
    time: "int",
    price: "float",
    valueUsd: "float?",
    feesUsd: "float?",
  },
  key: ["chainId", "block", "logIndex"],
  indexes: [{ fields: ["pool", "time"] }],
  shardKey: ["chainId", "block"],
});
const NUMBER_FIELDS = Object.fromEntries(
  Array.from({ length: 20 }, (_, i) => [`f${i}`, i < 6 ? "int" : "float"] as const),
);
const numbers: Collection = {
  name: "numbers",
  fields: NUMBER_FIELDS,
  key: ["f0", "f1"],
  indexes: [{ fields: ["f2", "f1"] }],
  shardKey: ["f0"],
};

const hex = (n: number, digits: number): string => `0x${n.toString(16).padStart(digits, "0")}`;

function swapRow(i: number): Record<string, unknown> {
  return {
    chainId: 8453,
    block: 20_000_000 + Math.floor(i / 10),
    logIndex: i % 10,
    blockHash: hex(i * 7_919, 64),
    txHash: hex(i * 104_729, 64),
    pool: hex((i * 31) % 50, 40),
    sender: hex((i * 17) % 1_000, 40),
    recipient: hex(i % 999, 40),
    origin: hex(i % 5_003, 40),
    dex: "uniswap-v3",
    kind: "swap",
    amount0: BigInt(i) * -1_000_000_007n,
    amount1: BigInt(i) * 10n ** 15n,
    sqrtPriceX96: (1n << 96n) + BigInt(i),
    liquidity: 10n ** 21n + BigInt(i),
    tick: (i % 100_000) - 50_000,
    time: 1_700_000_000 + Math.floor(i / 5),
    price: 1.2345 * (i + 1),
    valueUsd: i % 7 === 0 ? null : i / 7,
    feesUsd: i / 7_000,
  };
}

function numberRow(i: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(NUMBER_FIELDS).map((name, f) => [name, f < 6 ? (f === 2 ? i % 50 : i) : i / (f + 1)]),
  );
}

const BATCH = 5_000;

async function benchStore(name: string, { store, rows }: { store: Store; rows: number }): Promise<void> {
  await store.declare([swaps, numbers]);
  const report = (what: string, count: number, startedMs: number): void => {
    const rate = Math.round((count / (performance.now() - startedMs)) * 1_000);
    console.log(`${name.padEnd(8)} ${what.padEnd(34)} ${rate.toLocaleString("en").padStart(10)} /s`);
  };
  const write = async (
    target: Collection,
    make: (i: number) => Record<string, unknown>,
    what: string,
  ): Promise<void> => {
    const batches = Array.from({ length: rows / BATCH }, (_, b) =>
      Array.from({ length: BATCH }, (_, i) => make(b * BATCH + i)),
    );
    const started = performance.now();
    for (const batch of batches) await store.write([put(target, batch as never)]);
    report(what, rows, started);
  };
  await write(swaps, swapRow, "new rows");
  await write(swaps, swapRow, "the same rows again");
  await write(numbers, numberRow, "new rows of numbers");

  const gets = 2_000;
  let started = performance.now();
  for (let i = 0; i < gets; i++)
    await store.get(swaps, { chainId: 8453, block: 20_000_000 + ((i * 7) % (rows / 10)), logIndex: i % 10 });
  report("rows by key, one by one", gets, started);
  started = performance.now();
  const order = [{ field: "time", direction: "desc" }] as const;
  for (let i = 0; i < 200; i++)
    await store.find(swaps, { filter: { pool: hex(i % 50, 40) }, order, limit: 100 });
  report("pages of 100 by index", 200, started);
  await store.close();
}

async function main(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "bench-"));
  await benchStore("sqlite", {
    store: await openSqliteStore({ path: join(dir, "bench.sqlite") }),
    rows: 200_000,
  });
  await rm(dir, { recursive: true });
  const url = env.MONGODB_URL;
  if (url === undefined) return console.log("mongodb  not measured: MONGODB_URL is not set");
  const database = `chaintables_bench_${process.pid}`;
  await benchStore("mongodb", { store: await openMongoStore({ url, database }), rows: 60_000 });
  const { MongoClient } = await import("mongodb");
  const client = new MongoClient(url);
  await client.db(database).dropDatabase();
  await client.close();
}

await main();
