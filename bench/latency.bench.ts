/**
 * npm run bench:latency — from a block of 500 events to its visibility through the gateway: real processes, each its
 * own, on a local chain. The clock starts when the node has answered evm_mine and stops when /evm/dexb/v3/pool answers
 * with that block in X-Data-Block; then the same until a live stream of that pool has told the block, without anybody who
 * asks. Beside it, in the same run, what the node itself takes to give the block's logs.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createTestChain, type TestChain } from "../deploy/devnet/testkit.ts";
import { recordFigures } from "../services/shared/testkit/bench-record.ts";
import { EventReader } from "../services/shared/testkit/event-reader.ts";
import { startProgram, type TestProcess } from "../services/shared/testkit/process.ts";
import { quantile } from "./stats.ts";

const BLOCKS = Number(process.env.BENCH_BLOCKS ?? 100);
const EVENTS = Number(process.env.BENCH_EVENTS ?? 500);
const INTERVAL_MS = Number(process.env.BENCH_INTERVAL_MS ?? 2_000);
const SWAPS_A_TRANSACTION = 10;
const WARM_UP = 5;
const GOALS = { p50: 300, p99: 1_000 };
const LIVE_GOALS = { p50: 100, p99: 300 };
const KEY = "bench-key-of-this-process-only";

const chain = await createTestChain({ accounts: 60, keptStates: 50 });
const dataDir = await mkdtemp(join(tmpdir(), "chaintables-bench-latency-"));
const started: TestProcess[] = [];
try {
  const { url, target, read } = await startService();
  const node: number[] = [];
  const visible = await measure(async (block) => {
    while ((await read()) < block) await sleep(2);
  });
  const stream = new EventReader(target, { "x-api-key": KEY });
  await stream.count(1);
  const live = await measure((block) => told(stream, block));
  stream.close();

  /** How long each block takes from the node's answer until `seen` resolves. */
  async function measure(seen: (block: number) => Promise<void>): Promise<number[]> {
    const latencies: number[] = [];
    for (let i = 0; i < BLOCKS + WARM_UP; i++) {
      const beganMs = performance.now();
      await chain.send(ordersOf(i));
      const block = await chain.mine(1, { intervalS: 2 });
      const minedMs = performance.now();
      await seen(block);
      const latency = performance.now() - minedMs;
      const askedMs = performance.now();
      const count = await countLogs(block);
      if (count < EVENTS) throw new Error(`Block ${block} has ${count} logs, not ${EVENTS} events.`);
      if (i >= WARM_UP) {
        latencies.push(latency);
        node.push(performance.now() - askedMs);
      }
      await sleep(Math.max(0, INTERVAL_MS - (performance.now() - beganMs)));
    }
    return latencies;
  }
  console.log(`${BLOCKS} blocks of ${EVENTS} swaps, one every ${INTERVAL_MS} ms, seen at ${url}\n`);
  console.log(`${"".padEnd(28)}p50 ms   p99 ms   most ms`);
  print("visible through the gateway", visible);
  print("told by a live stream", live);
  print("eth_getLogs of the block", node);
  const what = `a block of ${EVENTS} swaps visible through the gateway`;
  recordFigures("latency", [
    { name: `${what}, median`, value: quantile(visible, 0.5), unit: "ms", goal: { atMost: GOALS.p50 } },
    {
      name: `${what}, 99th percentile`,
      value: quantile(visible, 0.99),
      unit: "ms",
      goal: { atMost: GOALS.p99 },
    },
    {
      name: `a block of ${EVENTS} swaps told by a live stream, median`,
      value: quantile(live, 0.5),
      unit: "ms",
      goal: { atMost: LIVE_GOALS.p50 },
    },
    {
      name: `a block of ${EVENTS} swaps told by a live stream, 99th percentile`,
      value: quantile(live, 0.99),
      unit: "ms",
      goal: { atMost: LIVE_GOALS.p99 },
    },
    { name: "eth_getLogs of the block by the node, median", value: quantile(node, 0.5), unit: "ms" },
  ]);
  if (quantile(visible, 0.5) > GOALS.p50 || quantile(visible, 0.99) > GOALS.p99) {
    console.log(`not reached: p50 under ${GOALS.p50} ms, p99 under ${GOALS.p99} ms`);
    process.exitCode = 1;
  }
  if (quantile(live, 0.5) > LIVE_GOALS.p50 || quantile(live, 0.99) > LIVE_GOALS.p99) {
    console.log(
      `not reached by live streams: p50 under ${LIVE_GOALS.p50} ms, p99 under ${LIVE_GOALS.p99} ms`,
    );
    process.exitCode = 1;
  }
} finally {
  await Promise.all(started.map((program) => program.stop()));
  await chain.stop();
  await rm(dataDir, { recursive: true, force: true });
}

/** Every process of the way from the chain to the client; `read` returns the block a client sees. */
async function startService(): Promise<{ url: string; target: string; read: () => Promise<number> }> {
  const env = { DATA_DIR: dataDir, DEPLOYMENTS_FILE: chain.deploymentsFile, LOG_LEVEL: "info" };
  const start = (path: string, more: Record<string, string>) => {
    const program = startProgram(path, { env: { ...env, HTTP_PORT: "0", GRPC_PORT: "0", ...more } });
    started.push(program);
    return program;
  };
  start("services/evm-dex/ingest/main.ts", { EVM_RPC_8453: chain.url, START_BLOCK_8453: "0" });
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
  return { url, target, read };
}

/** Resolves with the event of the block, when it comes. */
function told(stream: EventReader, block: number): Promise<void> {
  return new Promise((resolve) => {
    stream.onEvent = ({ data }) => {
      if (data.block >= block) resolve();
    };
    if (stream.events.some(({ data }) => data.block >= block)) resolve();
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
  console.log(`${name.padEnd(28)}${cells.map((ms) => ms.toFixed(0).padStart(6)).join("   ")}`);
}
