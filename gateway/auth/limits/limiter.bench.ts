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

/**
 * `npm run bench:limits`: what a request costs in limits, in processor time of one core.
 * Last figures, at a load of 5: a decision in memory 0.2 µs, for one of 10,000 keys 0.4 µs, its headers and usage 0.1 µs
 * (2 µs for a check are aimed at). With REDIS_URL, which shares the cores: 40 µs where one client asks after the other;
 * 4 to 6 µs where 64 ask at the same time, of one key or of 1,000, since one question asks for all who wait.
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
  let questions = 0;
  const shared = createRedisLimiter({
    redis,
    buckets: new LocalBuckets(systemClock),
    onResult: () => {
      questions += 1;
    },
  });
  for (const keys of [1, 1_000]) {
    for (const atOnce of [1, 64]) {
      questions = 0;
      let left = ROUNDS / 20;
      const ask = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          await shared.take({ kind: "key", subject: subjects[left % keys] as string, rule });
        }
      };
      const startedAt = process.cpuUsage();
      await Promise.all(Array.from({ length: atOnce }, ask));
      const { user, system } = process.cpuUsage(startedAt);
      const each = ((user + system) / (ROUNDS / 20)).toFixed(1);
      const share = (questions / (ROUNDS / 20)).toFixed(2);
      figures.push({
        name: `shared by Redis, ${keys} keys, ${atOnce} requests at a time`,
        value: (user + system) / (ROUNDS / 20),
        unit: "µs CPU",
      });
      console.log(
        `shared, ${keys} keys, ${atOnce} at once: ${each} µs, ${share} questions to Redis a decision`,
      );
    }
  }
  redis.close();
}
recordFigures("limits", figures);
