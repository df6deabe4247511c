/** The process that bench:pools measures: starts an indexer on a stored history, adds blocks, undoes two of them. */
import { loadIndexer } from "../../services/evm-dex/ingest/state/load-indexer.ts";
import { healIndexer, readUndone } from "../../services/evm-dex/ingest/undo/heal.ts";
import { rollbackTo } from "../../services/evm-dex/ingest/undo/rollback.ts";
import { isEnough, patienceOver } from "../../services/evm-dex/ingest/unwritten.ts";
import { writeProgress } from "../../services/evm-dex/ingest/write.ts";
import { type CheckpointRow, COLLECTIONS, poolEvents } from "../../services/evm-dex/store/collections.ts";
import { getCheckpoint } from "../../services/evm-dex/store/queries.ts";
import { SQLITE_FILE } from "../../services/evm-dex/store/sqlite-file.ts";
import { disablePretenuring, startWithFullSemiSpace } from "../../services/shared/process/v8-flags.ts";
import { openSqliteStore } from "../../services/shared/storage/sqlite/store.ts";
import { askedToWriteMbOf, memoryMbOf, peakRssOf } from "../process-cost.ts";
import { readBlocks, type StreamBlock } from "./stream-file.ts";

interface RunOptions {
  readonly path: string;
  readonly stream: string;
  readonly fork: string;
  readonly anchors: readonly string[];
  readonly chainId: number;
  /** Events that are loaded and added at a time. */
  readonly batch: number;
  /** Blocks at the end of the stream that are written one by one, as at the head. */
  readonly headBlocks: number;
  /** And those before them. */
  readonly blocks: number;
}

// As services/evm-dex/ingest/main.ts.
startWithFullSemiSpace();
disablePretenuring();
const { path, stream, fork, anchors, chainId, batch, blocks, headBlocks }: RunOptions = JSON.parse(
  process.argv[2] as string,
);
const store = await openSqliteStore({ path, mappedBytes: 0, ...SQLITE_FILE });
await store.declare(COLLECTIONS);
let checkpoint = (await getCheckpoint(store, chainId)) as CheckpointRow;
const guard = () => [];
const chain = { chainId, anchors };

const start = await timed(async () => {
  await rollbackTo(store, { checkpoint, target: targetOf(checkpoint), guard });
  return loadIndexer(store, chain);
});
const indexer = start.result;
const rssAfterStart = memoryMbOf(process.pid);
const peakAfterStart = peakRssOf(process.pid);

let events = 0;
const phases = { load: 0, add: 0 };
/** Of each write, with all that was loaded and added for it. */
const costs: ReturnType<typeof noCost>[] = [];
let cost = noCost();
let waiting: StreamBlock[] = [];
let lastAdded: StreamBlock;
const reader = readBlocks(stream)[Symbol.asyncIterator]();
for (let left = blocks; left > 0; left--) {
  waiting.push(await nextBlock());
  if (countEvents(waiting) < batch) continue;
  await addWaiting();
  if (isEnough(indexer.waiting, patienceOver(store))) await writeNoted();
}
await addWaiting();
if (indexer.waiting.events > 0) await writeNoted();
const { load: loadCpu, add: addCpu } = phases;
const streamed = events;

const beforeHead = askedToWriteMbOf(process.pid);
for (let left = headBlocks; left > 0; left--) {
  waiting.push(await nextBlock());
  await addWaiting();
  await write();
}
const headMegabytes = (askedToWriteMbOf(process.pid) - beforeHead) / headBlocks;
const rssAfterStream = memoryMbOf(process.pid);

const forked: StreamBlock[] = [];
for await (const block of readBlocks(fork)) forked.push(block);
const first = forked[0] as StreamBlock;
const before = await store.count(poolEvents, { chainId, blockNumber: { gte: first.number } });
if (before === 0) throw new Error("The last two blocks are not stored: there is nothing to undo.");
const heal = await timed(async () => {
  const target = { number: first.number - 1, hash: first.parentHash, time: first.time - 2 };
  const undone = await readUndone(store, { indexer, target: target.number });
  await rollbackTo(store, { checkpoint, target, guard, observed: undone.changed });
  checkpoint = { ...checkpoint, blockNumber: target.number, blockHash: target.hash, blockTime: target.time };
  await healIndexer(store, { indexer, anchors, target: target.number, undone });
});
const replace = await timed(async () => {
  await index(forked);
  await write();
});
await store.close();

const sum = (list: typeof costs, amountOf: (cost: (typeof costs)[number]) => number) =>
  list.reduce((total, cost) => total + amountOf(cost), 0);
// The first tenth warms the caches and the compiler up.
const warm = costs.slice(Math.ceil(costs.length / 10));
console.log(
  JSON.stringify({
    startCpu: start.cpu,
    startWall: start.wall,
    rssAfterStart,
    peakAfterStart,
    rssAfterStream,
    peak: peakRssOf(process.pid),
    events: streamed,
    eventsPerCpuSecond: sum(warm, (cost) => cost.events) / sum(warm, (cost) => cost.cpu),
    eventsPerSecond: sum(warm, (cost) => cost.events) / sum(warm, (cost) => cost.wall),
    // Of all batches, CPU microseconds an event.
    loadMicros: (1e6 * loadCpu) / streamed,
    addMicros: (1e6 * addCpu) / streamed,
    writeMicros: (1e6 * (sum(costs, (cost) => cost.cpu) - loadCpu - addCpu)) / streamed,
    systemShare: sum(warm, (cost) => cost.system) / sum(warm, (cost) => cost.cpu),
    firstPerCpuSecond: (costs[0]?.events ?? 0) / (costs[0]?.cpu ?? 1),
    headMegabytes,
    undone: before,
    healCpu: heal.cpu,
    healWall: heal.wall,
    replaceCpu: replace.cpu,
  }),
);

function targetOf({ blockNumber, blockHash, blockTime }: CheckpointRow) {
  return { number: blockNumber, hash: blockHash, time: blockTime };
}

async function addWaiting(): Promise<void> {
  if (waiting.length === 0) return;
  const part = waiting;
  waiting = [];
  const size = countEvents(part);
  note(await timed(() => index(part)), size);
  events += size;
}

async function nextBlock(): Promise<StreamBlock> {
  const { value, done } = await reader.next();
  if (done === true) throw new Error("The stream has fewer blocks.");
  return value;
}

function countEvents(blocks: readonly StreamBlock[]): number {
  return blocks.reduce((sum, { events }) => sum + events.length, 0);
}

/** As a backfill adds a batch: load and add. It writes several at once. */
async function index(blocks: readonly StreamBlock[]): Promise<void> {
  const load = await timed(async () => {
    await indexer.pools.prepare(blocks.flatMap((block) => block.events.map((event) => event.poolAddress)));
    await indexer.prepare(blocks);
    await indexer.preparePositions(blocks);
  });
  const add = await timed(async () => {
    for (const block of blocks) indexer.addBlock(block);
  });
  phases.load += load.cpu;
  phases.add += add.cpu;
  lastAdded = blocks.at(-1) as StreamBlock;
}

/** Writes what waits, and ends its cost: what comes after is not of it. */
async function writeNoted(): Promise<void> {
  note(await timed(() => write()), 0);
  costs.push(cost);
  cost = noCost();
}

async function write(): Promise<void> {
  const { number, hash, time } = lastAdded;
  checkpoint = { ...checkpoint, blockNumber: number, blockHash: hash, blockTime: time, chainHead: number };
  await writeProgress(store, {
    indexer,
    flushed: indexer.flush(),
    guard,
    progress: { checkpoint, fees: [], factoryFees: [], headers: [] },
  });
}

function noCost() {
  return { cpu: 0, wall: 0, system: 0, events: 0 };
}

function note({ cpu, wall, system }: Omit<ReturnType<typeof noCost>, "events">, count: number): void {
  cost.cpu += cpu;
  cost.wall += wall;
  cost.system += system;
  cost.events += count;
}

async function timed<T>(
  work: () => Promise<T>,
): Promise<{ result: T; cpu: number; system: number; wall: number }> {
  const [usage, startedMs] = [process.cpuUsage(), performance.now()];
  const result = await work();
  const { user, system } = process.cpuUsage(usage);
  return {
    result,
    cpu: (user + system) / 1e6,
    system: system / 1e6,
    wall: (performance.now() - startedMs) / 1000,
  };
}
