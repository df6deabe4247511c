/**
 * npm run bench:solana-stream — the head of Solana by a Yellowstone gRPC stream beside getBlock: bytes a slot, and how long
 * rows take from the node to the store. Slots as mainnet has them: 4,000 transactions, two thirds votes, 200 trades, the
 * others transfers and swaps that fail, one every 400 ms. Node, stream and ingest are one process, whose work all counts as
 * delay. BENCH_SLOTS makes it shorter.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startGeyserServer } from "../deploy/devnet/solana/geyser/server.ts";
import type { RpcServer } from "../deploy/devnet/solana/server/rpc-server.ts";
import { createTestSolana } from "../deploy/devnet/solana/testkit.ts";
import { openStore } from "../services/shared/storage/open.ts";
import { type Figure, recordFigures } from "../services/shared/testkit/bench-record.ts";
import { COLLECTIONS } from "../services/solana/store/collections.ts";
import { runTestIngest } from "../services/solana/test/running-ingest.ts";
import { median, quantile } from "./stats.ts";

/** A block in 64 is compared. */
const SLOTS = Number(process.env.BENCH_SLOTS ?? 128);
/** Before the first that counts: the start, and what the engine learns. */
const WARM_UP = 15;
const SLOT_MS = 400;
const MIX = { transactions: 1_333, votes: 2_667, others: 1_113, skipped: 0 };
const GOALS = { share: 0.1, visibleMs: 300 };
/** What the ingest asks for where it has no stream. */
const WHOLE = {
  ...{ encoding: "json", transactionDetails: "full", rewards: false },
  ...{ maxSupportedTransactionVersion: 0, commitment: "confirmed" },
};

interface Measured {
  readonly blockBytes: readonly number[];
  readonly streamBytes: number;
  /** Besides the stream: links of blocks, and those that are compared. */
  readonly rpcBytes: number;
  readonly visibleMs: readonly number[];
}

const figures: Figure[] = [];
for (const withHolders of [false, true]) report(withHolders, await measure(withHolders));
for (const { name, value, unit, goal } of figures)
  console.log(
    `${name.padEnd(56)}${value.toPrecision(3).padStart(8)} ${unit}${goal && "atMost" in goal ? `, goal ${goal.atMost}` : ""}`,
  );
if (figures.some(({ value, goal }) => goal && "atMost" in goal && value > goal.atMost)) process.exitCode = 1;
recordFigures("solana-stream", figures);

async function measure(withHolders: boolean): Promise<Measured> {
  const solana = await createTestSolana({ seed: 7, kept: 200, ...MIX });
  const geyser = await startGeyserServer(solana.chain);
  const dataDir = await mkdtemp(join(tmpdir(), "chaintables-bench-stream-"));
  const store = await openStore({ service: "solana", dataDir });
  await store.declare(COLLECTIONS);
  // Final ones, and small: an ingest begins at a final block.
  solana.produce(40, { transactions: 10 });
  const endpoint = { url: geyser.url };
  const times = { backoffMs: 100, maxBackoffMs: 1_000, patienceMs: 5_000, silenceMs: 60_000 };
  const ingest = runTestIngest(store, solana.servers, { stream: { endpoint, withHolders, ...times } });
  const node = solana.servers[0] as RpcServer;
  try {
    await ingest.at(solana.chain.head("confirmed"));
    const visibleMs: number[] = [];
    const blockBytes: number[] = [];
    let [streamed, rpc] = [0, 0];
    for (let i = -WARM_UP; i < SLOTS; i++) {
      if (i === 0) [streamed, rpc] = [geyser.sentBytes, node.sentBytes];
      const dueMs = performance.now() + SLOT_MS;
      solana.produce(1);
      const madeMs = performance.now();
      const slot = solana.chain.head("confirmed");
      await ingest.at(slot);
      if (i >= 0) visibleMs.push(performance.now() - madeMs);
      await sleep(Math.max(0, dueMs - performance.now()));
      if (i >= 0 && i % 10 === 0) blockBytes.push(await bytesOf(node.url, slot));
    }
    // What this bench asked for itself is not the ingest's.
    const own = blockBytes.reduce((sum, bytes) => sum + bytes, 0);
    const rpcBytes = node.sentBytes - rpc - own;
    return { blockBytes, streamBytes: geyser.sentBytes - streamed, rpcBytes, visibleMs };
  } finally {
    await ingest.stop();
    await geyser.close();
    await store.close();
    await solana.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Of a whole block as getBlock sends it, uncompressed. */
async function bytesOf(url: string, slot: number): Promise<number> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getBlock", params: [slot, WHOLE] });
  const answer = await fetch(url, { method: "POST", body, headers: { "Content-Type": "application/json" } });
  return (await answer.arrayBuffer()).byteLength;
}

function report(withHolders: boolean, { blockBytes, streamBytes, rpcBytes, visibleMs }: Measured): void {
  const what = withHolders ? "with holders" : "trades alone";
  const block = median(blockBytes);
  const slot = (streamBytes + rpcBytes) / SLOTS;
  figures.push(
    { name: `${what}: getBlock`, value: block / 1e6, unit: "MB a slot" },
    { name: `${what}: stream`, value: streamBytes / SLOTS / 1e6, unit: "MB a slot" },
    { name: `${what}: asked besides, to prove it`, value: rpcBytes / SLOTS / 1e6, unit: "MB a slot" },
    {
      name: `${what}: the stream's bytes beside getBlock's`,
      value: slot / block,
      unit: "times",
      ...(withHolders ? {} : { goal: { atMost: GOALS.share } }),
    },
    {
      name: `${what}: from the node to the store, median`,
      value: median(visibleMs),
      unit: "ms",
      goal: { atMost: GOALS.visibleMs },
    },
    { name: `${what}: from the node to the store, 99th`, value: quantile(visibleMs, 0.99), unit: "ms" },
  );
}
