/**
 * npm run bench:prices — prices at Base's size: what one block of up to 2,000 relevant logs costs (the pools it touched
 * are put in, prices worked out, changed links returned), beside a walk over all pools from nothing; and a batch of 500
 * tokens at the head and at past blocks, as gRPC Prices reads it, beside 500 rows read by key. SQLite, and with
 * MONGODB_URL MongoDB. Also the memory of the graph, without the addresses, which the pools hold anyway. BENCH_POOLS,
 * BENCH_TOUCHED and BENCH_BLOCKS scale it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createRandom } from "../deploy/devnet/random.ts";
import { PriceGraph } from "../services/evm-dex/price/graph.ts";
import type { TokenPrice } from "../services/evm-dex/price/link.ts";
import { type PriceLinkRow, priceLinks } from "../services/evm-dex/store/collections.ts";
import {
  readPrices,
  type StoredPrice,
  toAnchorRows,
  toLinkRow,
} from "../services/evm-dex/store/price-links.ts";
import { SQLITE_FILE } from "../services/evm-dex/store/sqlite-file.ts";
import { openMongoStore } from "../services/shared/storage/mongodb/store.ts";
import { put, type Store } from "../services/shared/storage/port.ts";
import { openSqliteStore } from "../services/shared/storage/sqlite/store.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { quantile } from "./stats.ts";
import { EdgeColumns } from "./synthetic/edge-columns.ts";
import { makeGraph, type SyntheticGraph } from "./synthetic/graph.ts";

const POOLS = Number(process.env.BENCH_POOLS ?? 520_000);
const BLOCKS = Number(process.env.BENCH_BLOCKS ?? 300);
const CHAIN_ID = 8453;
/** Pools that 2,000 logs touch. */
const TOUCHED = Number(process.env.BENCH_TOUCHED ?? 600);
const BATCH = 500;
const BATCHES = 40;
/** Blocks before the clock starts: the compiler needs some. */
const WARM_UP = 20;
const GOALS = { meanMs: 8, p99Ms: 20, memoryMb: 120 };

interface Made {
  /** By block, as JSON outside of the heap: an ingest's rows do not outlive their block either. */
  readonly links: readonly Buffer[];
  /** At the head, and at some blocks before. */
  readonly prices: ReadonlyMap<number, ReadonlyMap<string, TokenPrice>>;
}

const figures: Figure[] = [];
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
const synthetic = makeGraph({ pools: POOLS, deep: Math.ceil(POOLS / 17), tokens: Math.ceil(POOLS / 85) });
const made = runBlocks(synthetic);
await benchSqlite();
const url = process.env.MONGODB_URL;
if (url === undefined) console.log("mongodb: not measured, MONGODB_URL is not set");
else await benchMongo(url);
recordFigures("prices", figures);

async function benchSqlite(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "chaintables-bench-prices-"));
  await benchReads("sqlite", await openSqliteStore({ path: join(dataDir, "prices.sqlite"), ...SQLITE_FILE }));
  await rm(dataDir, { recursive: true, force: true });
}

async function benchMongo(url: string): Promise<void> {
  const database = `chaintables_bench_prices_${process.pid}`;
  await benchReads("mongodb", await openMongoStore({ url, database }));
  const { MongoClient } = await import("mongodb");
  const client = new MongoClient(url);
  await client.db(database).dropDatabase();
  await client.close();
}

function runBlocks(synthetic: SyntheticGraph): Made {
  const random = createRandom(2);
  const edges = new EdgeColumns(synthetic.edges);
  const withoutMb = memoryMb();
  const graph = new PriceGraph(synthetic.anchors);
  for (const edge of synthetic.edges) graph.set(edge);
  graph.update(0);
  graph.usd(synthetic.anchors[0] as string);
  const graphMb = memoryMb() - withoutMb;
  const links = [
    packed(toAnchorRows(synthetic.anchors, { chainId: CHAIN_ID, blockNumber: 0, time: 0 })),
    packed(takeRows(graph, 0)),
  ];
  let changed = 0;
  const prices = new Map([[0, pricesOf(graph)]]);
  const times: number[] = [];
  for (let block = 1; block <= BLOCKS; block++) {
    const moved = pickTouched(synthetic, random.next).map((i) => {
      const edge = synthetic.moved(edges.get(i), 2 * block);
      edges.set(i, edge);
      return edge;
    });
    const startedMs = cpuMs();
    for (const edge of moved) graph.set(edge);
    graph.update(2 * block);
    const rows = takeRows(graph, block);
    if (block > WARM_UP) times.push(cpuMs() - startedMs);
    changed += rows.length;
    links.push(packed(rows));
    if (block % Math.ceil(BLOCKS / 5) === 0 || block === BLOCKS) prices.set(block, pricesOf(graph));
  }
  const startedMs = cpuMs();
  const anew = new PriceGraph(synthetic.anchors);
  for (let i = 0; i < POOLS; i++) anew.set(edges.get(i));
  anew.resume(graph.links(), { now: 2 * BLOCKS, usd: graph.markedPrices() });
  anew.update(2 * BLOCKS);
  const anewMs = cpuMs() - startedMs;
  const atHead = pricesOf(anew);
  if (!isDeepStrictEqual(prices.get(BLOCKS), atHead))
    throw new Error("The prices are not those of a walk over all pools.");
  console.log(
    `${POOLS} pools of ${[...graph.known].length} tokens, ${atHead.size} of them with a price; ${graphMb.toFixed(0)} MB; ${TOUCHED} pools touched a block, ${(changed / BLOCKS).toFixed(0)} links changed`,
  );
  say("a block, CPU time", times);
  const { whole, local } = graph.walks;
  console.log(`${whole} walks over all tokens, ${local} that decided some of them again`);
  const meanMs = times.reduce((sum, ms) => sum + ms, 0) / times.length;
  say("the mean of all", [meanMs]);
  say("a walk from nothing, CPU time", [anewMs]);
  const p99 = quantile(times, 0.99);
  figures.push(
    { name: `prices after a block, ${POOLS} pools, CPU, median`, value: quantile(times, 0.5), unit: "ms" },
    { name: "the same, mean", value: meanMs, unit: "ms", goal: { atMost: GOALS.meanMs } },
    { name: "the same, 99th percentile", value: p99, unit: "ms", goal: { atMost: GOALS.p99Ms } },
    { name: "memory of the graph", value: graphMb, unit: "MB", goal: { atMost: GOALS.memoryMb } },
    { name: "a walk over all pools from nothing, CPU", value: anewMs, unit: "ms" },
  );
  if (meanMs > GOALS.meanMs || p99 > GOALS.p99Ms || graphMb > GOALS.memoryMb) {
    console.log(
      `  not reached: a mean of ${GOALS.meanMs} ms, a p99 of ${GOALS.p99Ms} ms a block, ${GOALS.memoryMb} MB`,
    );
    process.exitCode = 1;
  }
  return { links, prices };
}

/** The main pool of all always; of the others mostly deep ones. */
function pickTouched(synthetic: SyntheticGraph, next: () => number): number[] {
  const touched = new Set<number>([synthetic.busy[0] as number]);
  while (touched.size < Math.min(TOUCHED, synthetic.busy.length)) {
    const isBusy = next() < 0.7;
    touched.add(
      isBusy
        ? (synthetic.busy[Math.floor(synthetic.busy.length * next() ** 3)] as number)
        : Math.floor(synthetic.edges.length * next()),
    );
  }
  return [...touched];
}

function packed(rows: readonly PriceLinkRow[]): Buffer {
  return Buffer.from(JSON.stringify(rows));
}

function takeRows(graph: PriceGraph, blockNumber: number): PriceLinkRow[] {
  return graph
    .takeLinks()
    .map((change) => toLinkRow(change, { chainId: CHAIN_ID, blockNumber, time: blockNumber * 2 }));
}

function pricesOf(graph: PriceGraph): Map<string, TokenPrice> {
  return new Map(
    graph
      .tokens()
      .sort()
      .map((token) => [token, graph.price(token) as TokenPrice]),
  );
}

async function benchReads(name: string, store: Store): Promise<void> {
  await store.declare([priceLinks]);
  const rows = made.links.flatMap((text): PriceLinkRow[] => JSON.parse(String(text)));
  const startedMs = performance.now();
  for (let i = 0; i < rows.length; i += 5_000) await store.write([put(priceLinks, rows.slice(i, i + 5_000))]);
  const rate = (rows.length / (performance.now() - startedMs)) * 1000;
  console.log(`${name}: ${rows.length} links stored, ${rate.toFixed(0)} a second`);
  const head = await readBatches(store, () => BLOCKS);
  const random = createRandom(4);
  const blocks = [...made.prices.keys()].filter((block) => block < BLOCKS);
  const past = await readBatches(store, () => random.pick(blocks));
  say(`${name}, ${BATCH} tokens at the head`, head);
  say(`${name}, ${BATCH} tokens at a block`, past);
  figures.push(
    { name: `${BATCH} tokens at the head from ${name}, median`, value: quantile(head, 0.5), unit: "ms" },
    { name: `${BATCH} tokens at a past block from ${name}, median`, value: quantile(past, 0.5), unit: "ms" },
  );
  say(`${name}, ${BATCH} rows by key`, await readByKey(store, rows));
  await store.close();
}

async function readBatches(store: Store, blockOf: () => number): Promise<number[]> {
  const tokens = [...(made.prices.get(BLOCKS)?.keys() ?? [])];
  const random = createRandom(3);
  const times: number[] = [];
  for (let i = 0; i < BATCHES; i++) {
    const requested = new Set<string>();
    while (requested.size < Math.min(BATCH, tokens.length)) requested.add(random.pick(tokens));
    const block = blockOf();
    const startedMs = performance.now();
    const prices = await readPrices(store, { chainId: CHAIN_ID, tokens: requested, block });
    times.push(performance.now() - startedMs);
    for (const token of requested) {
      const isRight = isSame(prices.get(token), made.prices.get(block)?.get(token));
      if (!isRight) throw new Error(`Token ${token} came back with another price at block ${block}.`);
    }
  }
  return times;
}

async function readByKey(store: Store, rows: readonly PriceLinkRow[]): Promise<number[]> {
  const random = createRandom(5);
  const times: number[] = [];
  for (let i = 0; i < BATCHES; i++) {
    const keys = Array.from({ length: BATCH }, () => random.pick(rows)).map(
      ({ chainId, token, blockNumber }) => ({
        chainId,
        token,
        blockNumber,
      }),
    );
    const startedMs = performance.now();
    await store.getMany(priceLinks, keys);
    times.push(performance.now() - startedMs);
  }
  return times;
}

/** The stored price has the time of its last change beside what the graph says. */
function isSame(stored: StoredPrice | undefined, price: TokenPrice | undefined): boolean {
  if (stored === undefined) return price === undefined;
  const { changedAt: _, ...rest } = stored;
  return isDeepStrictEqual(rest, price);
}

/** What is held after a collection, with the arrays' unused ends. */
function memoryMb(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 2 ** 20;
}

/** Of this process, collector included: what others do on the machine does not count. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function say(what: string, times: readonly number[]): void {
  const figures = times.length === 1 ? [times[0] as number] : [quantile(times, 0.5), quantile(times, 0.99)];
  const [median = 0, p99] = figures.map((ms) => ms.toFixed(2));
  console.log(
    `${what.padEnd(36)} ${`${median} ms`.padStart(12)}${p99 === undefined ? "" : `   p99 ${p99} ms`}`,
  );
}
