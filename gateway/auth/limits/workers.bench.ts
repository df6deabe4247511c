import { fork } from "node:child_process";
import { once } from "node:events";
import type { Figure } from "../../../services/shared/testkit/bench-record.ts";
import { openParentChannel } from "../../fleet/worker.ts";
import { systemClock } from "../../request/clock.ts";
import { createBatchingLimiter } from "./batching-limiter.ts";
import { LocalBuckets } from "./local-buckets.ts";
import { createRule } from "./rule.ts";
import { type BucketRequest, takeForWorkers } from "./shared-buckets.ts";

const REQUESTS = 50_000;

type WorkerMessage =
  | { readonly kind: "buckets"; readonly id: number; readonly requests: readonly BucketRequest[] }
  | { readonly kind: "started" }
  | { readonly kind: "ended"; readonly cpuUs: number };

/** Measures a decision that a worker's parent makes: CPU of both processes, for limiter.bench.ts. */
export async function measureWorkers(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const concurrency of [1, 64]) {
    const buckets = new LocalBuckets(systemClock);
    const child = fork(new URL(import.meta.url), [String(concurrency)], { execArgv: process.execArgv });
    let startedUs = 0;
    let totalUs = 0;
    child.on("message", (message: WorkerMessage) => {
      if (message.kind === "buckets") {
        const { id, requests } = message;
        child.send({ kind: "buckets", id, responses: takeForWorkers(buckets, requests) });
      } else if (message.kind === "started") startedUs = cpuUs();
      else {
        totalUs = message.cpuUs + cpuUs() - startedUs;
        child.disconnect();
      }
    });
    await once(child, "exit");
    const name = `shared by workers, ${concurrency} requests at a time`;
    figures.push({ name, value: totalUs / REQUESTS, unit: "µs CPU" });
    console.log(`${name}: ${(totalUs / REQUESTS).toFixed(1)} µs in both processes`);
  }
  return figures;
}

async function runWorker(concurrency: number): Promise<void> {
  const { sharedBuckets } = openParentChannel();
  const rule = createRule({ ratePerSecond: 1_000_000, burst: 1_000_000, dailyQuota: 1_000_000_000 });
  const limiter = createBatchingLimiter({ shared: sharedBuckets, buckets: new LocalBuckets(systemClock) });
  const run = async (requests: number): Promise<void> => {
    let left = requests;
    const takeAll = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await limiter.take({ kind: "key", subject: "a", rule });
        // Requests arrive in turns of the event loop of their own.
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all(Array.from({ length: concurrency }, takeAll));
  };
  await run(REQUESTS / 10);
  const startedUs = cpuUs();
  process.send?.({ kind: "started" });
  await run(REQUESTS);
  process.send?.({ kind: "ended", cpuUs: cpuUs() - startedUs });
}

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

if (process.send !== undefined) await runWorker(Number(process.argv[2]));
