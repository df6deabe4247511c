import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { openCache } from "../../shared/cache/open.ts";
import type { Cache } from "../../shared/cache/port.ts";
import { toCells } from "../../shared/contract/cells.ts";
import { renderTable } from "../../shared/contract/render-table.ts";
import { openStore } from "../../shared/storage/open.ts";
import type { Store } from "../../shared/storage/port.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { until } from "../../shared/testkit/fixture.ts";
import type { TestProcess } from "../../shared/testkit/process.ts";
import { type RedisServer, startRedisOrSkip } from "../../shared/testkit/redis-server.ts";
import {
  type ServiceProcess,
  startIngestProcess,
  startServiceProcess,
} from "../../shared/testkit/service-process.ts";
import { dexbPool } from "../contract.ts";
import { readPool } from "../serve/pool/read-pool.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { readSnapshot, snapshotKey } from "../views/snapshot.ts";
import { v3PoolView } from "../views/v3-pool.ts";

const INGEST = new URL("../ingest/main.ts", import.meta.url);

const entry = new URL("../main.ts", import.meta.url);
const CHAIN = 8453;

/** The real ingest, a real Redis and the real service, each a process of its own; the store is read by the test too. */
describeWithChain("evm-dex with Redis", () => {
  let redis: RedisServer;
  let chain: TestChain;
  let dataDir: string;
  let store: Store;
  let cache: Cache;
  let ingest: TestProcess;
  let service: ServiceProcess;
  let pool: string;
  let other: string;

  before(async function () {
    redis = await startRedisOrSkip(this);
    chain = await createTestChain();
    [pool, other] = chain.pools.map(({ address }) => address) as [string, string];
    for (const address of [pool, other]) {
      await chain.swap(address as `0x${string}`, { zeroForOne: true, amount: 10n ** 15n });
    }
    await chain.mine(1, { intervalS: 2 });
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-snapshots-"));
    store = await openStore({ service: "evm-dex", dataDir });
    await store.declare(COLLECTIONS);
    cache = await openCache({ redisUrl: redis.url });
    const env = {
      DATA_DIR: dataDir,
      DEPLOYMENTS_FILE: chain.deploymentsFile,
      REDIS_URL: redis.url,
    };
    ingest = startIngestProcess(INGEST, {
      ...env,
      EVM_RPC_8453: chain.url,
      EVM_RPC_1: undefined,
      START_BLOCK_8453: "0",
      LEASE_TTL_MS: "10000",
    });
    service = await startServiceProcess(entry, env);
  });
  after(async () => {
    await service?.stop();
    await ingest?.stop("SIGTERM");
    await cache?.close();
    await store?.close();
    await chain?.stop();
    await redis?.remove();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  const urlOf = (address: string) => `${service.httpUrl}${dexbPool.path}?pool_address=${address}`;
  const indexed = async () => {
    const header = await chain.header(await chain.headNumber());
    await until(async () => (await getCheckpoint(store, CHAIN))?.blockHash === header.hash);
    return header;
  };
  /** What the store holds, read without the service. */
  const fromStore = async (poolAddress: string) => {
    const key = { chainId: CHAIN, poolAddress, family: "dexb" };
    const found = await readPool(store, { view: v3PoolView, key });
    return found && renderTable(dexbPool, [toCells(dexbPool, found.row)]);
  };
  const isKept = async (poolAddress: string) => {
    const checkpoint = await getCheckpoint(store, CHAIN);
    const text = await cache.get(snapshotKey({ chainId: CHAIN, poolAddress, view: "v3" }));
    if (text === undefined || checkpoint === undefined) return false;
    return readSnapshot(text, checkpoint) !== undefined;
  };
  /**
   * Mines until both pools have snapshots: blocks in quick succession leave no time for them. `queue` runs for each
   * block.
   */
  const mineKept = async (queue: () => Promise<unknown> = async () => {}) => {
    const triedUntil = () => performance.now() + 1_000;
    for (;;) {
      await queue();
      await chain.mine(1, { intervalS: 2 });
      await indexed();
      for (const endMs = triedUntil(); performance.now() < endMs; ) {
        if ((await isKept(pool)) && (await isKept(other))) return;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  };
  /** Until the service has noticed the head, requested by the other pool. */
  const noticed = async () => {
    const { number } = await indexed();
    await until(async () => (await fetch(urlOf(other))).headers.get("x-data-block") === `${number}`);
  };
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${service.httpUrl}/metrics`)).text();
    const line = text.split("\n").find((each) => each.startsWith(name));
    return line === undefined ? 0 : Number(line.split(" ").at(-1));
  };
  const reads = (source: string) => metric(`pool_reads_total{source="${source}"`);

  it("serves snapshots of the ingest, which equal the store", async () => {
    await indexed();
    for (const address of [pool, other]) {
      await until(async () => (await fetch(urlOf(address))).status === 200);
    }
    let before = { cache: 0, store: 0 };
    // Of a Redis that does not answer in time, as on a busy machine, the store answers instead.
    await until(async () => {
      await mineKept();
      await noticed();
      before = { cache: await reads("cache"), store: await reads("store") };
      const answer = await fetch(urlOf(pool));
      expect(await answer.text()).to.equal(await fromStore(pool));
      return (await reads("cache")) > before.cache;
    });
    await fetch(urlOf(pool));
    expect(await reads("cache"), "then from memory").to.equal(before.cache + 1);
    expect(await reads("store")).to.equal(before.store);
    expect(await metric("cache_up")).to.equal(1);
    expect(await metric("pool_snapshot_age_seconds_count")).to.be.greaterThan(0);
    expect(await metric('head_seen_age_seconds{chain="8453"')).to.be.greaterThan(0);
  });

  it("returns 304 for the tag of the head until it moves", async () => {
    await noticed();
    const first = await fetch(urlOf(pool));
    const again = () => fetch(urlOf(pool), { headers: { "If-None-Match": first.headers.get("etag") ?? "" } });
    const counted = await metric("pool_reads_total");
    expect((await again()).status).to.equal(304);
    expect(await metric("pool_reads_total"), "no row was read").to.equal(counted);
    expect(first.headers.get("cache-control")).to.equal("private, max-age=2");
    await chain.mine(1, { intervalS: 2 });
    await noticed();
    expect((await again()).status).to.equal(200);
  });

  it("never serves a replaced block, though Redis and memory have it", async () => {
    // In whichever block is the last: it is the one that goes.
    await mineKept(() => chain.swap(pool as `0x${string}`, { zeroForOne: true, amount: 10n ** 17n }));
    await noticed();
    const replaced = await (await fetch(urlOf(pool))).text();
    const number = await chain.headNumber();
    await chain.reorg(1, { transactionsPerBlock: 0 });
    expect((await indexed()).number).to.equal(number);
    const truth = await fromStore(pool);
    expect(truth, "the replaced block had a swap").not.to.equal(replaced);
    await until(async () => (await (await fetch(urlOf(pool))).text()) !== replaced);
    const answer = await fetch(urlOf(pool));
    expect(answer.headers.get("x-data-block")).to.equal(`${number}`);
    expect(await answer.text()).to.equal(truth);
  });

  it("reads from the store while Redis is frozen or gone, and from Redis when it is back", async () => {
    for (const outage of ["frozen", "gone"]) {
      if (outage === "frozen") redis.freeze();
      else await redis.kill();
      const failed = await metric("cache_failures_total");
      // New blocks, or memory would answer.
      for (let i = 0; i < 2; i++) {
        await chain.mine(1, { intervalS: 2 });
        await noticed();
        const before = await reads("store");
        const answers = await Promise.all([1, 2, 3].map(() => fetch(urlOf(pool))));
        expect(
          answers.map(({ status }) => status),
          outage,
        ).to.deep.equal([200, 200, 200]);
        expect(await answers[0]?.text(), outage).to.equal(await fromStore(pool));
        expect(await reads("store"), outage).to.equal(before + 1);
      }
      await until(async () => (await metric("cache_failures_total")) > failed);
      expect(await metric("cache_up"), outage).to.equal(0);
      if (outage === "frozen") redis.thaw();
      else await redis.start();
      await until(async () => {
        await mineKept();
        await noticed();
        const before = await reads("cache");
        await fetch(urlOf(pool));
        return (await reads("cache")) > before;
      });
      expect(await metric("cache_up"), outage).to.equal(1);
    }
    const warned = service.entries.filter(({ msg }) => String(msg).startsWith("the cache fails"));
    expect(warned, "once for all of it").to.have.length(1);
    expect(service.entries.filter(({ level }) => level === "error" || level === "fatal")).to.deep.equal([]);
  });

  it("starts and serves without a reachable Redis", async () => {
    const alone = await startServiceProcess(entry, {
      DATA_DIR: dataDir,
      DEPLOYMENTS_FILE: chain.deploymentsFile,
      REDIS_URL: "redis://127.0.0.1:9",
    });
    try {
      await indexed();
      const answer = await fetch(`${alone.httpUrl}${dexbPool.path}?pool_address=${pool}`);
      expect([answer.status, await answer.text()]).to.deep.equal([200, await fromStore(pool)]);
    } finally {
      expect(await alone.stop()).to.deep.equal({ code: 0, signal: null });
    }
  });
});
