import { expect } from "chai";
import fc from "fast-check";
import { after, before, it } from "mocha";
import { createClient } from "redis";
import { describeWithProcesses, randomRuns } from "../../../services/shared/testkit/describe.ts";
import { type RedisServer, startRedisOrSkip } from "../../../services/shared/testkit/redis-server.ts";
import { type Bucket, DAY_US, takeFromBucket } from "./bucket.ts";
import { BUCKET_SCRIPT, type KnownBucket, parseScriptResponse, scriptArguments } from "./bucket-script.ts";
import { createRule, type LimitRule } from "./rule.ts";
import type { BucketResponse } from "./shared-buckets.ts";

const rules = fc
  .record({
    thousandths: fc.oneof(
      fc.integer({ min: 1, max: 10_000 }),
      // So fast that the microseconds between two calls count.
      fc.integer({ min: 1_000_000, max: 1_000_000_000 }),
    ),
    burst: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 1_000_000 })),
    dailyQuota: fc.option(fc.integer({ min: 1, max: 100 }), { nil: null }),
  })
  .map(({ thousandths, burst, dailyQuota }) =>
    createRule({ ratePerSecond: thousandths / 1000, burst, dailyQuota }),
  );
const counts = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 500 }));

describeWithProcesses("bucket script", () => {
  let server: RedisServer | undefined;
  const clients: { destroy(): void }[] = [];
  let take: (rule: LimitRule, count: number, known?: KnownBucket) => Promise<BucketResponse>;
  let takeAll: (requests: [key: string, rule: LimitRule, count: number][]) => Promise<BucketResponse[]>;
  let store: (bucket: Bucket) => Promise<unknown>;
  let stored: () => Promise<string | null>;
  let forget: () => Promise<unknown>;
  let ttlMs: () => Promise<number>;

  before(async function () {
    server = await startRedisOrSkip(this);
    const client = createClient({ url: server.url });
    await client.connect();
    clients.push(client);
    const key = "bucket";
    take = async (rule, count, known) => {
      const call = { keys: [key], arguments: scriptArguments(rule, count, known) };
      const [response] = parseScriptResponse(await client.eval(BUCKET_SCRIPT, call), 1);
      return response as BucketResponse;
    };
    takeAll = async (requests) => {
      const call = {
        keys: requests.map(([name]) => name),
        arguments: requests.flatMap(([, rule, count]) => scriptArguments(rule, count, undefined)),
      };
      return parseScriptResponse(await client.eval(BUCKET_SCRIPT, call), requests.length);
    };
    store = ({ level, atUs, day, used }) => client.set(key, `${level} ${atUs} ${day} ${used}`);
    stored = () => client.get(key);
    forget = () => client.del(key);
    ttlMs = () => client.pTTL(key);
  });
  after(async () => {
    for (const client of clients) client.destroy();
    await server?.remove();
  });

  it("decides on random sequences as TypeScript does at the same times, to the unit", async () => {
    // One rule per sequence: a bucket expires once its rule has drained it; another rule might not have.
    await fc.assert(
      fc.asyncProperty(rules, fc.array(counts, { minLength: 1, maxLength: 12 }), async (rule, requests) => {
        await forget();
        let bucket: Bucket | undefined;
        for (const count of requests) {
          const response = await take(rule, count);
          const nowUs = response.bucket.atUs;
          const expected = takeFromBucket(bucket, { nowUs, wallUs: nowUs }, { rule, count });
          expect(response).to.deep.equal(expected);
          // A count of 0 writes nothing.
          if (count > 0) ({ bucket } = expected);
        }
      }),
      { numRuns: randomRuns(150) },
    );
  });

  it("decides as TypeScript does on any bucket: of another time, another day, of a clock that went back", async () => {
    const buckets = fc.record({
      level: fc.oneof(
        fc.constant(0),
        fc.integer({ min: 0, max: 20_000_000_000 }),
        fc.integer({ min: 0, max: 1e15 }),
      ),
      agoUs: fc.oneof(fc.integer({ min: -5_000_000, max: 5_000_000 }), fc.integer({ min: -1e13, max: 1e13 })),
      daysAgo: fc.integer({ min: -1, max: 1 }),
      used: fc.integer({ min: 0, max: 120 }),
    });
    await fc.assert(
      fc.asyncProperty(buckets, rules, counts, async ({ level, agoUs, daysAgo, used }, rule, count) => {
        const { bucket: fresh } = await take(rule, 0);
        const bucket = { level, atUs: fresh.atUs - agoUs, day: fresh.day - daysAgo, used };
        await store(bucket);
        const response = await take(rule, count);
        const nowUs = response.bucket.atUs;
        expect(response).to.deep.equal(takeFromBucket(bucket, { nowUs, wallUs: nowUs }, { rule, count }));
        await forget();
      }),
      { numRuns: randomRuns(300) },
    );
  });

  it("takes from many buckets in one call, one after the other, the same one twice too", async () => {
    const requests = fc.array(fc.tuple(fc.nat(3), rules, counts), { minLength: 1, maxLength: 30 });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(requests, async (list) => {
        round += 1;
        const responses = await takeAll(
          list.map(([index, rule, count]) => [`${round} ${index}`, rule, count]),
        );
        const nowUs = responses[0]?.bucket.atUs as number;
        const known = new Map<number, Bucket>();
        for (const [turn, [index, rule, count]] of list.entries()) {
          const expected = takeFromBucket(known.get(index), { nowUs, wallUs: nowUs }, { rule, count });
          expect(responses[turn]).to.deep.equal(expected);
          if (count > 0) known.set(index, expected.bucket);
        }
      }),
      { numRuns: randomRuns(100) },
    );
  });

  it("continues from what the gateway knows if Redis knows less, and from its own state if it knows more", async () => {
    const rule = createRule({ ratePerSecond: 0.001, burst: 5, dailyQuota: 9 });
    const { day } = (await take(rule, 0)).bucket;
    expect((await take(rule, 9, { level: 3_000_000_000, day, used: 8 })).granted).to.equal(1);
    expect((await take(rule, 9, { level: 0, day, used: 0 })).granted).to.equal(0);
    await forget();
    expect((await take(rule, 9, { level: 3_000_000_000, day: day - 1, used: 8 })).granted).to.equal(2);
    await forget();
  });

  it("expires a bucket once it is empty and its day is over, not before", async () => {
    const brief = createRule({ ratePerSecond: 10, burst: 100, dailyQuota: null });
    await take(brief, 50);
    expect(await ttlMs()).to.be.within(1, 5_001);
    await forget();
    const daily = createRule({ ratePerSecond: 10, burst: 100, dailyQuota: 10 });
    const { bucket } = await take(daily, 1);
    const leftMs = ((bucket.day + 1) * DAY_US - bucket.atUs) / 1000;
    // At the very end of a day the bucket itself lasts longer.
    expect(await ttlMs()).to.be.at.most(Math.max(leftMs, 100) + 2);
    expect(await stored()).to.match(/^\d+ \d+ \d+ 1$/);
    await forget();
    await take(daily, 0);
    expect(await stored()).to.equal(null);
  });

  it("starts with an empty bucket if the stored text is invalid", async () => {
    const rule = createRule({ ratePerSecond: 1, burst: 5, dailyQuota: null });
    for (const client of clients as { set?: (key: string, value: string) => Promise<unknown> }[])
      await client.set?.("bucket", "what is this");
    expect((await take(rule, 9)).granted).to.equal(5);
  });
});
