/**
 * npm run bench:latency — from a block of 500 events to a client: real processes, each its own, on a local chain. The clock
 * starts when the node has answered evm_mine. It stops for a client that asks /evm/dexb/v3/pool through the gateway again and
 * again when the answer names that block (X-Data-Block), and for a live stream of that pool when it tells the block. Of the
 * latter it says where the time went: the ingest's node is behind a recorder, the store's checkpoint is read every
 * millisecond, and the service's heads are listened to. Beside it, what the node itself takes to give the block's logs.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTestChain, type TestChain } from "../deploy/devnet/testkit.ts";
import { checkpoints } from "../services/evm-dex/store/collections.ts";
import { getCheckpoint } from "../services/evm-dex/store/queries.ts";
import { createHeadsClient } from "../services/shared/grpc/heads.ts";
import { openStore } from "../services/shared/storage/open.ts";
import { recordFigures } from "../services/shared/testkit/bench-record.ts";
import { EventReader } from "../services/shared/testkit/event-reader.ts";
import { startProgram, type TestProcess } from "../services/shared/testkit/process.ts";
import { startRpcRecorder } from "./latency/rpc-recorder.ts";
import { type BlockTimes, createHeadTimes, readTimes, splitStages } from "./latency/stages.ts";
import { quantile } from "./stats.ts";

const BLOCKS = Number(process.env.BENCH_BLOCKS ?? 100);
const EVENTS = Number(process.env.BENCH_EVENTS ?? 500);
const INTERVAL_MS = Number(process.env.BENCH_INTERVAL_MS ?? 2_000);
/** Between two requests of the client that polls: it must not take the processors from those that it measures. */
const ASK_MS = 10;
const SWAPS_A_TRANSACTION = 10;
/** Until the ingest knows the chain's rhythm. */
const WARM_UP = 15;
const GOALS = { p50: 300, p99: 1_000 };
const LIVE_GOALS = { p50: 100, p99: 300 };
const CHAIN = 8453;
/** Whether the node announces its blocks to the ingest by WebSocket; else the ingest looks when the next one is due. */
const IS_NOTIFIED = process.env.BENCH_SOCKET === "1";
const KEY = "bench-key-of-this-process-only";

const chain = await createTestChain({ accounts: 60, keptStates: 50 });
const recorder = await startRpcRecorder(chain.url);
const dataDir = await mkdtemp(join(tmpdir(), "chaintables-bench-latency-"));
const started: TestProcess[] = [];
try {
  const { url, target, read, grpc } = await startService();
  const store = await openStore({ service: "evm-dex", dataDir, access: "read" });
  await store.declare([checkpoints]);
  const heads = createHeadTimes();
  const headsClient = createHeadsClient(grpc);
  headsClient.watch({ onHead: heads.onHead, onEnd: () => {} });
  while ((await read()) < 0) await sleep(ASK_MS);
  const stream = new EventReader(target, { "x-api-key": KEY });
  await stream.count(1);
  const node: number[] = [];
  const visible: number[] = [];
  const live: BlockTimes[] = [];
  // Blocks come when they are due, as a chain's do: to a rhythm that the bench makes, and not its machine.
  let dueMs = performance.now();
  for (let i = 0; i < BLOCKS + WARM_UP; i++) {
    await chain.send(ordersOf(i));
    recorder.forget();
    dueMs += INTERVAL_MS;
    await sleep(Math.max(0, dueMs - performance.now()));
    const block = await chain.mine(1, { intervalS: 2 });
    const minedMs = performance.now();
    const [seenMs, heardMs, writtenMs] = await Promise.all([
      untilVisible(block),
      told(stream, block),
      untilWritten(block),
    ]);
    while (heads.toldAtMs(block) === undefined) await sleep(1);
    const askedMs = performance.now();
    const count = await countLogs(block);
    if (count < EVENTS) throw new Error(`Block ${block} has ${count} logs, not ${EVENTS} events.`);
    if (i >= WARM_UP) {
      visible.push(seenMs - minedMs);
      const toldMs = heads.toldAtMs(block) as number;
      live.push({ ...readTimes(recorder.calls, { block, writtenMs }), minedMs, writtenMs, toldMs, heardMs });
      node.push(performance.now() - askedMs);
    }
  }
  stream.close();
  headsClient.close();

  async function untilVisible(block: number): Promise<number> {
    while ((await read()) < block) await sleep(ASK_MS);
    return performance.now();
  }
  async function untilWritten(block: number): Promise<number> {
    while (((await getCheckpoint(store, CHAIN))?.blockNumber ?? -1) < block) await sleep(1);
    return performance.now();
  }

  await store.close();
  console.log(`${BLOCKS} blocks of ${EVENTS} swaps, one every ${INTERVAL_MS} ms, seen at ${url}`);
  console.log(`load ${loadavg()[0]?.toFixed(1)} in the last minute, this bench's own included\n`);
  console.log(`${"".padEnd(36)}p50 ms   p99 ms   most ms`);
  const heard = live.map(({ minedMs, heardMs }) => heardMs - minedMs);
  print("visible through the gateway", visible);
  print("told by a live stream", heard);
  const stages = splitStages(live);
  for (const { name, times } of stages) print(`  ${name}`, times);
  print("eth_getLogs of the block", node);
  const what = `a block of ${EVENTS} swaps visible through the gateway`;
  const byStream = `a block of ${EVENTS} swaps told by a live stream`;
  const [p50, p99] = [0.5, 0.99];
  recordFigures("latency", [
    { name: `${what}, median`, value: quantile(visible, p50), unit: "ms", goal: { atMost: GOALS.p50 } },
    {
      name: `${what}, 99th percentile`,
      value: quantile(visible, p99),
      unit: "ms",
      goal: { atMost: GOALS.p99 },
    },
    {
      name: `${byStream}, median`,
      value: quantile(heard, p50),
      unit: "ms",
      goal: { atMost: LIVE_GOALS.p50 },
    },
    {
      name: `${byStream}, 99th percentile`,
      value: quantile(heard, p99),
      unit: "ms",
      goal: { atMost: LIVE_GOALS.p99 },
    },
    ...stages.map(({ name, times }) => ({
      name: `  of it, ${name}`,
      value: quantile(times, p50),
      unit: "ms",
    })),
    { name: "eth_getLogs of the block by the node, median", value: quantile(node, p50), unit: "ms" },
  ]);
  if (quantile(visible, p50) > GOALS.p50 || quantile(visible, p99) > GOALS.p99) {
    console.log(`not reached: p50 under ${GOALS.p50} ms, p99 under ${GOALS.p99} ms`);
    process.exitCode = 1;
  }
  if (quantile(heard, p50) > LIVE_GOALS.p50 || quantile(heard, p99) > LIVE_GOALS.p99) {
    console.log(
      `not reached by live streams: p50 under ${LIVE_GOALS.p50} ms, p99 under ${LIVE_GOALS.p99} ms`,
    );
    process.exitCode = 1;
  }
} finally {
  await Promise.all(started.map((program) => program.stop()));
  recorder.stop();
  await chain.stop();
  await rm(dataDir, { recursive: true, force: true });
}

/** Every process of the way from the chain to the client; `read` returns the block a client sees. */
async function startService() {
  const env = { DATA_DIR: dataDir, DEPLOYMENTS_FILE: chain.deploymentsFile, LOG_LEVEL: "info" };
  const start = (path: string, more: Record<string, string>) => {
    const program = startProgram(path, { env: { ...env, HTTP_PORT: "0", GRPC_PORT: "0", ...more } });
    started.push(program);
    return program;
  };
  const ingest = { EVM_RPC_8453: recorder.url, START_BLOCK_8453: "0" };
  start("services/evm-dex/ingest/main.ts", IS_NOTIFIED ? { ...ingest, ...notifiedBy(chain.wsUrl) } : ingest);
  const evmDex = await start("services/evm-dex/main.ts", {}).logged("listening");
  const gateway = start("gateway/main.ts", {
    GATEWAY_PORT: "0",
    EVM_DEX_URL: evmDex.httpUrl,
    EVM_DEX_GRPC: evmDex.grpcAddress,
    BOOTSTRAP_API_KEY: KEY,
  });
  const { url } = await gateway.logged("listening");
  const target = `${url}/evm/dexb/v3/pool?pool_address=${chain.pools[0]?.address}`;
  const read = async () => {
    const response = await fetch(target, { headers: { "x-api-key": KEY } });
    await response.arrayBuffer();
    return response.status === 200 ? Number(response.headers.get("x-data-block") ?? -1) : -1;
  };
  return { url: url as string, target, read, grpc: evmDex.grpcAddress as string };
}

function notifiedBy(wsUrl: string): Record<string, string> {
  // Node 20 has a WebSocket, but hides it.
  const options = "WebSocket" in globalThis ? {} : { NODE_OPTIONS: "--experimental-websocket" };
  return { EVM_RPC_8453: `${recorder.url},${wsUrl}`, ...options };
}

/** When the stream has told the block, by performance.now. */
function told(stream: EventReader, block: number): Promise<number> {
  return new Promise((resolve) => {
    stream.onEvent = ({ data }) => {
      if (data.block >= block) resolve(performance.now());
    };
    if (stream.events.some(({ data }) => data.block >= block)) resolve(performance.now());
  });
}

/** Small swaps to and fro over all pools. */
function ordersOf(block: number): Parameters<TestChain["send"]>[0] {
  const { pools, accounts } = chain;
  return Array.from({ length: Math.ceil(EVENTS / SWAPS_A_TRANSACTION) }, (_, t) => ({
    from: accounts[1 + (t % (accounts.length - 1))] as TestChain["accounts"][0],
    actions: Array.from({ length: SWAPS_A_TRANSACTION }, (_, i) => {
      const pool = pools[(t * SWAPS_A_TRANSACTION + i) % pools.length] as TestChain["pools"][0];
      const zeroForOne = (block + t) % 2 === 0;
      const token = zeroForOne ? pool.token0 : pool.token1;
      return {
        kind: "swap" as const,
        pool: pool.address,
        zeroForOne,
        amount: BigInt(Math.ceil((10 / token.usd) * 10 ** token.decimals)),
      };
    }),
  }));
}

async function countLogs(block: number): Promise<number> {
  const number = `0x${block.toString(16)}`;
  const logs = await chain.anvil.rpc.call<unknown[]>("eth_getLogs", [{ fromBlock: number, toBlock: number }]);
  return logs.length;
}

function print(name: string, values: readonly number[]): void {
  const cells = [quantile(values, 0.5), quantile(values, 0.99), Math.max(...values)];
  console.log(`${name.padEnd(36)}${cells.map((ms) => ms.toFixed(0).padStart(6)).join("   ")}`);
}
