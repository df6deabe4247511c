/**
 * npm run bench:solana-transactions — token-transactions over 10,000,000 rows (BENCH_ROWS), requested from the service as a
 * process of its own over HTTP: first and deep pages, with each filter and with all of them, of a token that is in four
 * of five trades and of rare ones. BENCH_DIR keeps the filled store for another run.
 */
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../services/shared/storage/open.ts";
import { put } from "../services/shared/storage/port.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { startServiceProcess } from "../services/shared/testkit/service-process.ts";
import { tokenTransactions } from "../services/solana/contract.ts";
import { SegmentBuilder } from "../services/solana/ingest/segments/segment-builder.ts";
import {
  blocks,
  blockTimes,
  type CheckpointRow,
  COLLECTIONS,
  checkpoints,
  poolRows,
  segments,
  tokenRows,
} from "../services/solana/store/collections.ts";
import { FIRST_SLOT, FIRST_TIME, SOL, SyntheticSolana, timeOf } from "./synthetic/solana.ts";

const ROWS = Number(process.env.BENCH_ROWS ?? 10_000_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 300);
const SLOTS_A_WRITE = 50;
const DEEP = 100_000;
/** Of documents the bench has none. */
const NOTHING = { tokenRows: [], poolRows: [], supplyRows: [], documents: {} };
const GOALS = { firstMs: 10, otherMs: 30, rssMb: 400 };

type Query = Readonly<Record<string, string | number>>;
interface Line {
  readonly title: string;
  /** Of the n-th request. */
  readonly query: (n: number) => Query;
  readonly goalMs: number | undefined;
}

const synthetic = new SyntheticSolana();
const given = process.env.BENCH_DIR;
const dataDir = given ?? (await mkdtemp(join(tmpdir(), "chaintables-solana-bench-")));
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const failures: string[] = [];
const figures: Figure[] = [];
try {
  const lastSlot = await fill();
  const service = await startServiceProcess(new URL("../services/solana/main.ts", import.meta.url), {
    DATA_DIR: dataDir,
  });
  try {
    console.log(`\n${"".padEnd(58)} ${"rows".padStart(5)}  first ms   p50 ms   p99 ms   cpu ms`);
    const pid = service.child.pid as number;
    for (const line of linesOf(lastSlot)) await measure({ origin: service.httpUrl, pid }, line);
    const { peak, now } = memoryOf(pid);
    console.log(`\nthe service takes ${now} MB, at most ${peak} MB (goal: under ${GOALS.rssMb})`);
    if (peak >= GOALS.rssMb) failures.push("memory");
    figures.push({
      name: "most memory of the service",
      value: peak,
      unit: "MB",
      goal: { atMost: GOALS.rssMb },
    });
  } finally {
    await service.stop();
  }
} finally {
  agent.destroy();
  if (given === undefined) await rm(dataDir, { recursive: true, force: true });
}
recordFigures("solana-transactions", figures);
if (failures.length > 0) {
  console.error(`bench:solana-transactions: not reached: ${failures.join("; ")}`);
  process.exitCode = 1;
}

/** Returns the last slot. */
async function fill(): Promise<number> {
  const noted = join(dataDir, "filled.json");
  if (existsSync(noted)) {
    const found = JSON.parse(readFileSync(noted, "utf8"));
    if (found.rows === ROWS) return found.lastSlot;
    await rm(dataDir, { recursive: true });
  }
  await mkdir(dataDir, { recursive: true });
  const store = await openStore({ service: "solana", dataDir });
  await store.declare(COLLECTIONS);
  const keeper = new SegmentBuilder({ store, guard: () => [] });
  const startedMs = performance.now();
  let rows = 0;
  let fromSlot = FIRST_SLOT;
  while (rows < ROWS) {
    const slots = synthetic.slots({ fromSlot, count: SLOTS_A_WRITE });
    const times = new Map<number, number>();
    for (let slot = slots.lastSlot; slot >= fromSlot; slot--) times.set(timeOf(slot), slot);
    if (timeOf(fromSlot - 1) === timeOf(fromSlot)) times.delete(timeOf(fromSlot));
    await store.write([
      put(tokenRows, slots.tokenRows),
      put(poolRows, slots.poolRows),
      put(
        blockTimes,
        [...times].map(([time, firstSlot]) => ({ time, firstSlot })),
      ),
    ]);
    rows += slots.tokenRows.length;
    const batch = { ...slots, supplyRows: [], changes: NOTHING };
    await keeper.afterBatch({ blocks: [], batch, checkpoint: checkpointAt(slots.lastSlot) });
    fromSlot = slots.lastSlot + 1;
  }
  const checkpoint = checkpointAt(fromSlot - 1);
  const { slot, blockhash, time } = checkpoint;
  await store.write([
    put(blocks, [{ slot, blockhash, parentSlot: slot - 1, time, trades: 0, otherSwaps: 0 }]),
    put(checkpoints, [checkpoint]),
  ]);
  const counted = await store.count(segments, {});
  await store.close();
  await writeFile(noted, JSON.stringify({ rows: ROWS, lastSlot: slot }));
  const seconds = (performance.now() - startedMs) / 1_000;
  const bytes = (await stat(join(dataDir, "solana.sqlite"))).size;
  console.log(
    `${rows} rows of tokens with those of pools and ${counted} segments written in ${seconds.toFixed(0)} s, ${(bytes / rows).toFixed(0)} bytes a row`,
  );
  return slot;
}

function checkpointAt(slot: number): CheckpointRow {
  return {
    ...{ chainId: 0, slot, blockhash: "head", time: timeOf(slot) },
    ...{ fromSlot: FIRST_SLOT, fromTime: FIRST_TIME, rowsFromSlot: FIRST_SLOT, rowsFromTime: FIRST_TIME },
    ...{ headSlot: slot, finalizedSlot: slot - 32, fromBlockhash: "", trades: 0, otherSwaps: 0 },
  };
}

function linesOf(lastSlot: number): Line[] {
  const hot = { token_address: SOL, days: 3_650 };
  const [market] = synthetic.markets.filter(({ quote }) => quote === SOL);
  const pool = { pool_address: market?.pools[0] as string };
  const dex = { dex: "orca" };
  const dexOfPool = { dex: ["raydium", "orca", "meteora", "pumpfun"][market?.dex ?? 0] as string };
  const [type, liquidity] = [{ tx_type: "buy" }, { tx_type: "add_liquidity" }];
  const [round, between] = [{ min_value_usd: 100 }, { min_value_usd: 250.5 }];
  const rare = (n: number) => synthetic.markets[100 + ((n * 997) % 40_000)]?.mint as string;
  const frequent = (n: number) => synthetic.markets[n % 100]?.mint as string;
  const span = timeOf(lastSlot) - FIRST_TIME;
  const window = (n: number) => {
    const after_time = FIRST_TIME + Math.floor(span * (((n * 37) % 80) / 100));
    return { after_time, before_time: after_time + Math.floor(span / 5) };
  };
  const filters: [string, Query][] = [
    ["buys", type],
    ["liquidity added", liquidity],
    ["on one exchange", dex],
    ["of one pool", pool],
    ["from 100 USD", round],
    ["from 250.50 USD", between],
    ["buys on one exchange from 100 USD", { ...type, ...dex, ...round }],
    ["buys on one exchange from 250.50 USD", { ...type, ...dex, ...between }],
    ["all filters", { ...type, ...dexOfPool, ...pool, ...between }],
  ];
  const first = GOALS.firstMs;
  const other = GOALS.otherMs;
  const same = (query: Query) => () => query;
  return [
    { title: "SOL, first page", query: same(hot), goalMs: first },
    { title: "SOL, first page of 1000", query: same({ ...hot, limit: 1_000 }), goalMs: undefined },
    {
      title: "frequent tokens, first page",
      query: (n) => ({ ...hot, token_address: frequent(n) }),
      goalMs: first,
    },
    { title: "rare tokens, first page", query: (n) => ({ ...hot, token_address: rare(n) }), goalMs: first },
    { title: "SOL in a fifth of the time", query: (n) => ({ ...hot, ...window(n) }), goalMs: first },
    ...filters.map(([title, filter]) => ({ title, query: same({ ...hot, ...filter }), goalMs: other })),
    { title: `SOL, offset ${DEEP}`, query: same({ ...hot, offset: DEEP }), goalMs: other },
    {
      title: `SOL in a fifth of the time, offset ${DEEP}`,
      query: (n) => ({ ...hot, ...window(n), offset: DEEP }),
      goalMs: other,
    },
    ...filters.map(([title, filter]) => ({
      title: `${title}, offset ${DEEP}`,
      query: same({ ...hot, ...filter, offset: DEEP }),
      goalMs: other,
    })),
    {
      title: `from another value each time, offset ${DEEP}`,
      query: (n) => ({ ...hot, min_value_usd: 20 + n / 7, offset: DEEP }),
      goalMs: undefined,
    },
    {
      title: "from another value each time, first page",
      query: (n) => ({ ...hot, min_value_usd: 20 + n / 7 }),
      goalMs: other,
    },
  ];
}

async function measure(
  { origin, pid }: { origin: string; pid: number },
  { title, query, goalMs }: Line,
): Promise<void> {
  let rows = 0;
  const read = async (n: number): Promise<number> => {
    const sent = Object.entries(query(n)).map(([name, value]) => `${name}=${value}`);
    const startedMs = performance.now();
    const body = await fetchText(`${origin}${tokenTransactions.path}?${sent.join("&")}`);
    const spent = performance.now() - startedMs;
    rows = JSON.parse(body).rows;
    return spent;
  };
  const cold = await read(0);
  const times: number[] = [];
  const cpuBefore = cpuMsOf(pid);
  for (let n = 1; n <= ROUNDS; n++) times.push(await read(n));
  const cpu = (cpuMsOf(pid) - cpuBefore) / ROUNDS;
  times.sort((a, b) => a - b);
  const [p50, p99] = [0.5, 0.99].map((share) => times[Math.floor(times.length * share)] as number);
  const shown = [cold, p50, p99, cpu].map((time) => (time as number).toFixed(2).padStart(8)).join(" ");
  console.log(`${title.padEnd(58)} ${String(rows).padStart(5)}  ${shown}`);
  if (goalMs !== undefined)
    figures.push({
      name: `${title}, 99th percentile`,
      value: p99 as number,
      unit: "ms",
      goal: { atMost: goalMs },
    });
  if (goalMs !== undefined && (p99 as number) >= goalMs) failures.push(`${title} (p99 under ${goalMs} ms)`);
}

function fetchText(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part) => (text += part));
      response.on("end", () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`${url} answered ${response.statusCode}: ${text}`));
      });
    }).on("error", reject);
  });
}

/** Processor time of a process so far: what others do on the machine is not in it. Counted in hundredths of a second. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resident memory of a process, in MB. */
function memoryOf(pid: number): { peak: number; now: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const read = (name: string) =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1_000);
  return { peak: read("VmHWM"), now: read("VmRSS") };
}
