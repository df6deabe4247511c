import { openRedisConnection } from "../../../services/shared/cache/redis-connection.ts";
import { type Figure, recordFigures } from "../../../services/shared/testkit/bench-record.ts";
import { systemClock } from "../../request/clock.ts";
import { fixHeaders, HeaderList } from "../../request/response-head.ts";
import { createUsageCounter } from "../usage/usage-counter.ts";
import { setLimitHeaders } from "./headers.ts";
import { LocalBuckets } from "./local-buckets.ts";
import { createMemoryLimiter } from "./local-limiter.ts";
import { createRedisLimiter } from "./redis-limiter.ts";
import { createRule } from "./rule.ts";
import { measureWorkers } from "./workers.bench.ts";

/**
 * `npm run bench:limits`: the CPU time that limits add to a request.
 * Last figures, at a load of 5: a decision in memory 0.2 µs, for one of 10,000 keys 0.4 µs, its headers and usage 0.1 µs
 * (goal: 2 µs). With REDIS_URL, which shares the cores: 40 µs for one request after the other; 4 to 6 µs with 64 requests
 * at a time, of one key or of 1,000, because one batch carries all of them. Among workers without Redis: 29 µs and 3 µs.
 */
const ROUNDS = 1_000_000;

const figures: Figure[] = [];

function measure(name: string, run: (round: number) => void): void {
  for (let i = 0; i < ROUNDS / 10; i += 1) run(i);
  const startedAt = process.cpuUsage();
  for (let i = 0; i < ROUNDS; i += 1) run(i);
  const { user, system } = process.cpuUsage(startedAt);
  figures.push({ name, value: (user + system) / ROUNDS, unit: "µs CPU" });
  console.log(`${name}: ${((user + system) / ROUNDS).toFixed(3)} µs`);
}

const limiter = createMemoryLimiter(systemClock);
const rule = createRule({ ratePerSecond: 1_000_000, burst: 1_000_000, dailyQuota: 1_000_000_000 });
const slow = createRule({ ratePerSecond: 0.001, burst: 1, dailyQuota: null });
const subjects = Array.from({ length: 10_000 }, (_, i) => `key_${i}`);
const decision = limiter.take({ kind: "key", subject: "a", rule });
const usage = createUsageCounter({
  clock: systemClock,
  store: () => Promise.reject(new Error("nothing is written here")),
});

measure("a decision", () => limiter.take({ kind: "key", subject: "a", rule }));
measure("a refusal", () => limiter.take({ kind: "key", subject: "slow", rule: slow }));
measure("a decision for one of 10,000 keys", (round) =>
  limiter.take({ kind: "key", subject: subjects[round % subjects.length] as string, rule }),
);
const none = fixHeaders([]);
measure("its headers", () => setLimitHeaders(new HeaderList(none), decision));
measure("a request counted", () =>
  usage.count({ subject: "a", key: "a", endpoint: "/evm/chains", isPassed: true }),
);

const { REDIS_URL } = process.env;
if (REDIS_URL === undefined) {
  console.log("REDIS_URL is not set: shared decisions are not measured.");
} else {
  const redis = await openRedisConnection({ url: REDIS_URL });
  await redis.waitUntilReady(5_000);
  let batches = 0;
  const shared = createRedisLimiter({
    redis,
    buckets: new LocalBuckets(systemClock),
    onResult: () => {
      batches += 1;
    },
  });
  for (const keys of [1, 1_000]) {
    for (const concurrency of [1, 64]) {
      batches = 0;
      let left = ROUNDS / 20;
      const takeAll = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          await shared.take({ kind: "key", subject: subjects[left % keys] as string, rule });
        }
      };
      const startedAt = process.cpuUsage();
      await Promise.all(Array.from({ length: concurrency }, takeAll));
      const { user, system } = process.cpuUsage(startedAt);
      const each = ((user + system) / (ROUNDS / 20)).toFixed(1);
      const share = (batches / (ROUNDS / 20)).toFixed(2);
      figures.push({
        name: `shared by Redis, ${keys} keys, ${concurrency} requests at a time`,
        value: (user + system) / (ROUNDS / 20),
        unit: "µs CPU",
      });
      console.log(
        `shared, ${keys} keys, ${concurrency} at once: ${each} µs, ${share} batches to Redis per decision`,
      );
    }
  }
  redis.close();
}
figures.push(...(await measureWorkers()));
recordFigures("limits", figures);
