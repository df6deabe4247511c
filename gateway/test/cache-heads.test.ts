import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { EventReader } from "../../services/shared/testkit/event-reader.ts";
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import { LiveTable } from "../testkit/live-table.ts";
import { until } from "../testkit/until.ts";
import type { FakeUpstream } from "../testkit/upstream.ts";

const ADDRESS = "pool_address=0xd0b53d9277642d899df5c87a3966a349a798f224";
const POOL = `/evm/dexb/v3/pool?${ADDRESS}`;
const TRADES = "/api/v1/solana/tokens?limit=5";

/** The tables of these are fresh for an hour, unless a head ends it. */
describe("gateway: response cache and heads", () => {
  let gateway: TestGateway;
  afterEach(() => gateway.stop());

  const start = async ({ replicas = 1, cacheIdleMs = 60_000 } = {}) => {
    gateway = await startTestGateway({
      replicas,
      config: { cacheBytes: 8_000_000 },
      parts: { heads: { cacheIdleMs } },
    });
  };
  const get = async (target: string) => {
    const answer = await gateway.get(target);
    await answer.arrayBuffer();
    return { result: answer.headers.get("x-cache"), block: Number(answer.headers.get("x-data-block")) };
  };
  const untilBlock = (target: string, block: number) =>
    until(async () => (await get(target)).block === block);
  const toldHeads = async (family: string) => {
    const [, count] =
      new RegExp(`^gateway_heads_told_total\\{.*family="${family}".*\\} (\\d+)$`, "m").exec(
        await gateway.metrics(),
      ) ?? [];
    return Number(count ?? 0);
  };

  it("answers from a new head as soon as it is told, with one request a head and table", async () => {
    await start();
    const pool = new LiveTable(gateway.evmDex);
    expect(await get(POOL)).to.deep.equal({ result: "miss", block: 100 });
    // The first head that is told ends what was kept before.
    await until(async () => (await toldHeads("evm-dex")) === 1);
    await get(POOL);
    for (let block = 101; block <= 103; block += 1) {
      const before = pool.asked;
      pool.mine();
      await untilBlock(POOL, block);
      for (let i = 0; i < 10; i += 1) expect(await get(POOL)).to.deep.equal({ result: "hit", block });
      expect(pool.asked - before).to.equal(1);
    }
  });

  it("answers anew after a reorg to a lower block, and when prices change a table of the same block", async () => {
    await start();
    const pool = new LiveTable(gateway.evmDex);
    await get(POOL);
    await until(async () => (await toldHeads("evm-dex")) === 1);
    await get(POOL);
    pool.takeBack(2);
    pool.mine([], "b");
    await untilBlock(POOL, 99);
    expect((await get(POOL)).result).to.equal("hit");
    const before = pool.asked;
    pool.version = "2";
    pool.tell();
    await until(async () => (await get(POOL)).result !== "hit" || pool.asked > before);
    expect(pool.asked - before).to.equal(1);
  });

  it("keeps tables of other chains, and of services that tell nothing, for their own time", async () => {
    await start();
    const pool = new LiveTable(gateway.evmDex);
    const tokens = new LiveTable(gateway.solana, { chainId: 0 });
    const others = [`${POOL}&chain_id=1`, `/evm/lending/lendinga/v3/pools`];
    new LiveTable(gateway.lending, { chainId: 1 });
    for (const target of [POOL, TRADES, ...others]) await get(target);
    await until(async () => (await toldHeads("evm-dex")) === 1 && (await toldHeads("solana")) === 1);
    for (const target of [POOL, TRADES]) await get(target);
    const { asked } = tokens;
    pool.mine();
    await untilBlock(POOL, 101);
    for (const target of [TRADES, ...others]) expect((await get(target)).result, target).to.equal("hit");
    expect(tokens.asked).to.equal(asked);
    tokens.mine();
    await untilBlock(TRADES, 101);
  });

  it("asks a replica that is behind again, and soon has the table of the told head", async () => {
    await start({ replicas: 2 });
    const replicas = [gateway.evmDex, gateway.others[0] as FakeUpstream] as const;
    const [first, second] = [new LiveTable(replicas[0]), new LiveTable(replicas[1])];
    await get(POOL);
    await until(async () => (await toldHeads("evm-dex")) >= 1);
    const [told, other] = gateway.evmDex.headListeners.size > 0 ? [first, second] : [second, first];
    // Only one of them knows the block, and half of the requests go to the other.
    for (let round = 0; round < 4; round += 1) {
      told.mine();
      await untilBlock(POOL, told.head.block);
      other.mine();
    }
    // One that stays behind is asked ever less, and not for each request.
    other.takeBack(3);
    told.mine();
    await until(async () => (await get(POOL)).result !== "hit");
    const before = first.asked + second.asked;
    for (let i = 0; i < 50; i += 1) await get(POOL);
    expect(first.asked + second.asked - before).to.be.below(25);
  });

  it("goes on with another replica when the one that told the heads ends, and then with heads again", async () => {
    await start({ replicas: 2 });
    const tables = new Map([gateway.evmDex, ...gateway.others].map((each) => [each, new LiveTable(each)]));
    await get(POOL);
    await until(async () => (await toldHeads("evm-dex")) === 1);
    const followed = [...tables.keys()].find(({ headListeners }) => headListeners.size > 0);
    await followed?.stop();
    const rest = [...tables].find(([upstream]) => upstream !== followed)?.[1] as LiveTable;
    await until(async () => (await toldHeads("evm-dex")) === 2);
    rest.mine();
    await untilBlock(POOL, 101);
    await followed?.restart();
  });

  it("follows no service that nobody asks, and shares its subscription with live streams", async () => {
    await start();
    new LiveTable(gateway.evmDex);
    const stream = new EventReader(`${gateway.url}${POOL}`, { "X-API-KEY": BOOTSTRAP_KEY });
    await stream.count(1);
    await get(POOL);
    await until(() => gateway.evmDex.headListeners.size > 0);
    expect([gateway.evmDex, gateway.lending].map(({ headListeners }) => headListeners.size)).to.deep.equal([
      1, 0,
    ]);
    stream.close();
  });

  it("ends its subscription when nobody asks, and forgets what was kept at the next head", async () => {
    await start({ cacheIdleMs: 200 });
    const pool = new LiveTable(gateway.evmDex);
    await get(POOL);
    await until(() => gateway.evmDex.headListeners.size === 1);
    await until(() => gateway.evmDex.headListeners.size === 0);
    pool.mine();
    await untilBlock(POOL, 101);
  });
});
