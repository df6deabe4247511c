/**
 * npm run bench:solana-stream — the head of Solana by a Yellowstone gRPC stream beside getBlock: bytes a slot, how long rows
 * take from the node to the store, and CPU. The node is a process of its own; the ingest is this one. Slots as mainnet has
 * them, one every 400 ms (`MIX`). Three ways to compare, for what nodes send is not what all providers send:
 *
 * - as a validator sends both: its JSON-RPC never compresses, its Yellowstone plugin does by default (the goal);
 * - both uncompressed;
 * - both compressed: providers' front ends compress getBlock where it is asked for, and the ingest asks for it.
 *
 * All that is asked besides the stream counts with it: links of blocks, and whole blocks to compare. BENCH_SLOTS makes it
 * shorter; a block in 64 is compared, so that multiples of 64 are fair.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openStore } from "../services/shared/storage/open.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { COLLECTIONS } from "../services/solana/store/collections.ts";
import { runTestIngest } from "../services/solana/test/running-ingest.ts";
import type {
  Advanced,
  NodeOptions,
  NodeReady,
  NodeReply,
  NodeRequest,
  SentBytes,
  Weight,
} from "./chains/solana-node.ts";
import { weighRecordedTrades } from "./chains/solana-recorded.ts";
import { median, quantile } from "./stats.ts";

const SLOTS = Number(process.env.BENCH_SLOTS ?? 64);
/** Before the first that counts: the start, and what the engine learns. */
const WARM_UP = 10;
const SLOT_MS = 400;
/**
 * 4,000 transactions a slot, two thirds votes. 200 trades and changes of liquidity: mainnet's 86 million rows a day, two a
 * trade, at 2.5 slots a second. 42 % of what is no vote fails, in an exchange's program: public counts have said 40 to 60 %
 * since 2023, mostly of bots that arbitrage. The others are transfers.
 */
const MIX = { transactions: 1_333, votes: 2_667, others: 1_113 };
/** Before them: an ingest begins at a final block. */
const SMALL_SLOTS = 40;
const GOALS = { share: 0.1, visibleMs: 300 };

interface Measured {
  readonly block: Weight;
  /** In all slots. */
  readonly sent: SentBytes;
  readonly visibleMs: readonly number[];
  readonly cpuSeconds: number;
}

const figures: Figure[] = [];
const node = startNode();
for (const withHolders of [false, true]) report(withHolders, await measure(withHolders));
node.kill("SIGKILL");
const recorded = weighRecordedTrades();
if (recorded !== undefined)
  figures.push(
    { name: "a recorded trade's message beside its JSON", value: recorded.message, unit: "times" },
    { name: "the same, with the message compressed", value: recorded.gzipMessage, unit: "times" },
  );
for (const { name, value, unit, goal } of figures)
  console.log(
    `${name.padEnd(64)}${value.toPrecision(3).padStart(8)} ${unit}${goal && "atMost" in goal ? `, goal ${goal.atMost}` : ""}`,
  );
if (figures.some(({ value, goal }) => goal && "atMost" in goal && value > goal.atMost)) process.exitCode = 1;
recordFigures("solana-stream", figures);

async function measure(withHolders: boolean): Promise<Measured> {
  const ready = await ask<NodeReady>({ kind: "restart" });
  const dataDir = await mkdtemp(join(tmpdir(), "chaintables-bench-stream-"));
  const store = await openStore({ service: "solana", dataDir });
  await store.declare(COLLECTIONS);
  const times = { backoffMs: 100, maxBackoffMs: 1_000, patienceMs: 5_000, silenceMs: 60_000 };
  const stream = { endpoint: { url: ready.grpcUrl }, withHolders, ...times };
  const ingest = runTestIngest(store, [{ url: ready.rpcUrl }], { stream });
  try {
    await ingest.at(ready.slot);
    const visibleMs: number[] = [];
    let begun = { sent: await ask<SentBytes>({ kind: "sent" }), cpu: process.cpuUsage() };
    for (let i = -WARM_UP; i < SLOTS; i++) {
      if (i === 0) begun = { sent: await ask<SentBytes>({ kind: "sent" }), cpu: process.cpuUsage() };
      const dueMs = performance.now() + SLOT_MS;
      const { slot, readyMs } = await ask<Advanced>({ kind: "advance" });
      await ingest.at(slot);
      if (i >= 0) visibleMs.push(performance.timeOrigin + performance.now() - readyMs);
      await sleep(Math.max(0, dueMs - performance.now()));
    }
    const sent = await ask<SentBytes>({ kind: "sent" });
    const cpu = process.cpuUsage(begun.cpu);
    return {
      block: await ask<Weight>({ kind: "weigh" }),
      sent: subtract(sent, begun.sent),
      visibleMs,
      cpuSeconds: (cpu.user + cpu.system) / 1e6,
    };
  } finally {
    await ingest.stop();
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

function startNode(): ChildProcess {
  const script = fileURLToPath(new URL("./chains/solana-node.ts", import.meta.url));
  const options: NodeOptions = { smallSlots: SMALL_SLOTS, slots: WARM_UP + SLOTS, mix: MIX };
  const child = fork(script, [JSON.stringify(options)], { execArgv: ["--import", "tsx"] });
  process.once("exit", () => child.kill("SIGKILL"));
  return child;
}

function ask<T extends NodeReply>(request: NodeRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`The node ended with ${code}.`));
    node.once("exit", ended);
    node.once("message", (message) => {
      node.off("exit", ended);
      resolve(message as T);
    });
    node.send(request);
  });
}

function subtract(after: SentBytes, before: SentBytes): SentBytes {
  return {
    stream: after.stream - before.stream,
    messages: after.messages - before.messages,
    rpc: after.rpc - before.rpc,
  };
}

function report(withHolders: boolean, { block, sent, visibleMs, cpuSeconds }: Measured): void {
  const what = withHolders ? "with holders" : "trades alone";
  const [stream, messages, rpc] = [sent.stream / SLOTS, sent.messages / SLOTS, sent.rpc / SLOTS];
  // What is asked besides is nearly all whole blocks.
  const gzipRpc = rpc * (block.gzipBytes / block.bytes);
  const goal = withHolders ? {} : { goal: { atMost: GOALS.share } };
  figures.push(
    { name: `${what}: getBlock`, value: block.bytes / 1e6, unit: "MB a slot" },
    { name: `${what}: getBlock, compressed`, value: block.gzipBytes / 1e6, unit: "MB a slot" },
    { name: `${what}: stream, on the wire`, value: stream / 1e6, unit: "MB a slot" },
    { name: `${what}: stream, uncompressed`, value: messages / 1e6, unit: "MB a slot" },
    { name: `${what}: asked besides, to prove it`, value: rpc / 1e6, unit: "MB a slot" },
    { name: `${what}: bytes beside getBlock's`, value: (stream + rpc) / block.bytes, unit: "times", ...goal },
    {
      name: `${what}: bytes beside getBlock's, both uncompressed`,
      value: (messages + rpc) / block.bytes,
      unit: "times",
    },
    {
      name: `${what}: bytes beside getBlock's, both compressed`,
      value: (stream + gzipRpc) / block.gzipBytes,
      unit: "times",
    },
    {
      name: `${what}: from the node to the store, median`,
      value: median(visibleMs),
      unit: "ms",
      goal: { atMost: GOALS.visibleMs },
    },
    {
      name: `${what}: from the node to the store, 99th percentile`,
      value: quantile(visibleMs, 0.99),
      unit: "ms",
    },
    { name: `${what}: CPU of the ingest`, value: (cpuSeconds / SLOTS) * 1000, unit: "ms a slot" },
  );
}
