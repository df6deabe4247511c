import { expect } from "chai";
import { after, afterEach, before, it } from "mocha";
import { encodeFunctionData, type Hex, parseAbi } from "viem";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { OtherChain } from "../../shared/evm/finality/genesis.ts";
import { headers } from "../../shared/index/evm/headers.ts";
import { createIngestMetrics } from "../../shared/ingest/metrics.ts";
import { put } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import { describeWithChain, itThorough } from "../../shared/testkit/describe.ts";
import { lendingMetrics } from "../ingest/metrics.ts";
import type { EntityState, LendingProtocol } from "../protocols/protocol.ts";
import { checkpoints, discoveries, entities, entityHistory } from "../store/collections.ts";
import { fromStateText } from "../store/state-text.ts";
import {
  dumpFreshIndex,
  dumpStore,
  expectSame,
  type IndexedChain,
  indexLending,
  mineBusyBlocks,
  startTestIngest,
  type TestIngest,
  type TestIngestOptions,
} from "./harness.ts";
import { FACTORY, POOL, poolProtocol, SIDE } from "./pool-protocol.ts";

const REVERTING: Hex = "0x60006000fd";
const devToken = parseAbi(["function mint(address, uint256)"]);
const isUsdc = ({ symbol }: { symbol: string }) => symbol === "USDC";

describeWithChain("lending ingest", () => {
  let chain: TestChain;
  let indexed: IndexedChain & { remove(): Promise<void> };
  const started: TestIngest[] = [];
  before(async () => {
    chain = await createTestChain();
    indexed = await indexLending(chain);
  });
  afterEach(async () => {
    for (const ingest of started.splice(0)) await ingest.close();
  });
  after(async () => {
    await indexed?.remove();
    await chain?.stop();
  });

  async function start(options: TestIngestOptions = {}, chain: IndexedChain = indexed): Promise<TestIngest> {
    const ingest = await startTestIngest(chain, options);
    started.push(ingest);
    return ingest;
  }

  async function stateOf<S = EntityState>({ store }: TestIngest, kind: string, id: string): Promise<S> {
    const row = await store.get(entities, { chainId: 8453, kind, id });
    if (row?.state === undefined || row.state === null) throw new Error(`${kind} ${id} has no state`);
    return fromStateText(row.state) as S;
  }

  /** Every pool that the factory's events name is known, with what the pool itself says at the head. */
  async function expectTruth(ingest: TestIngest): Promise<void> {
    const created = (await chain.events()).flatMap((event) =>
      event.eventName === "PoolCreated" ? [event.args.pool] : [],
    );
    const known = await ingest.store.find(entities, { filter: { kind: POOL } });
    expect(known.map(({ id }) => id)).to.have.members(created.map((pool) => pool.toLowerCase()));
    for (const { id, state } of known) {
      const { sqrtPriceX96, tick } = await chain.slot0(id as Hex);
      const liquidity = await chain.liquidity(id as Hex);
      expect(fromStateText(state ?? ""), id).to.deep.include({ sqrtPriceX96, tick, liquidity });
      for (const side of [0, 1]) {
        const { token, balance } = await stateOf<{ token: { address: Hex }; balance: bigint }>(
          ingest,
          SIDE,
          `${id}:${side}`,
        );
        expect(balance, `${id}:${side}`).to.equal(await chain.balanceOf(token.address, id as Hex));
      }
    }
  }

  it("knows and reads everything at the first head of a short chain", async () => {
    const ingest = await start();
    await ingest.catchUp();
    await expectTruth(ingest);
    expect(
      (await ingest.store.find(entities, { filter: { kind: FACTORY } })).map(({ id }) => id),
    ).to.deep.equal([chain.deployment.factory]);
    const head = await chain.headNumber();
    expect(ingest.checkpoint()).to.deep.include({
      blockNumber: head,
      blockHash: (await chain.header(head)).hash,
      fromBlock: head,
      version: 1,
      epoch: 0,
    });
  });

  it("reads only what logs affect, and marks new rows by their version", async () => {
    const ingest = await start();
    await ingest.catchUp();
    const [first, second] = chain.pools.map(({ address }) => address) as [Hex, Hex];
    await chain.swap(first, { zeroForOne: true, amount: 10n ** 15n });
    await chain.mine(2);
    await ingest.catchUp();
    const rows = await ingest.store.find(entities, { filter: { version: { gt: 1 } } });
    expect(rows.map(({ id }) => id)).to.have.members([first, `${first}:0`, `${first}:1`]);
    expect(ingest.checkpoint().version).to.equal(2);
    expect(new Set(rows.map(({ version }) => version))).to.deep.equal(new Set([2]));
    await chain.swap(second, { zeroForOne: true, amount: 10n ** 15n });
    await chain.mine(1, { intervalS: 3_600 });
    await ingest.catchUp();
    await expectTruth(ingest);
    const history = await ingest.store.find(entityHistory, { filter: { kind: POOL, id: second } });
    expect(history, "an hour later, and changed").to.have.length(2);
    expect(history.map(({ hour }) => hour % 3_600)).to.deep.equal([0, 0]);
  });

  it("finds the past of a long chain by scans, and goes on where it was interrupted", async () => {
    await mineBusyBlocks(chain, { blocks: 40, seed: 3 });
    await chain.mine(600, { intervalS: 2 });
    await mineBusyBlocks(chain, { blocks: 20, seed: 4 });
    const ingest = await start();
    await ingest.catchUp();
    await expectTruth(ingest);
    const head = await chain.headNumber();
    const found = await ingest.store.find(entities, { filter: { kind: POOL } });
    expect(
      found.some(({ foundBlock }) => foundBlock < head - 512),
      "by the scan",
    ).to.equal(true);
    expect(await ingest.store.find(discoveries, {})).to.deep.equal([
      { chainId: 8453, name: "pools-created", blockNumber: head },
    ]);
    const kept = (await ingest.store.find(headers, {})).map(({ number }) => number);
    expect(kept, "block 0 and the last").to.deep.equal([
      0,
      ...Array.from({ length: 256 }, (_, i) => head - 255 + i),
    ]);

    const store = await openSqliteStore({ path: ":memory:" });
    const early = await start({ store });
    await store.write([put(discoveries, [{ chainId: 8453, name: "pools-created", blockNumber: 30 }])]);
    await early.catchUp();
    const late = (await store.find(entities, { filter: { kind: POOL } })).map(({ foundBlock }) => foundBlock);
    expect(Math.min(...late), "what was scanned before is not scanned again").to.be.greaterThan(30);
    expect(late.length).to.be.greaterThan(0);
    await early.close();
    started.pop();
    await store.close();
  });

  itThorough("reads everything after a long gap, what was created in it too", async () => {
    const ingest = await start();
    await ingest.catchUp();
    const known = await ingest.store.count(entities, {});
    await mineBusyBlocks(chain, { blocks: 30, seed: 8 });
    await chain.mine(600);
    await mineBusyBlocks(chain, { blocks: 10, seed: 9 });
    await ingest.catchUp();
    expect(await ingest.store.count(entities, {})).to.be.greaterThan(known);
    expect(ingest.lines).to.include("read all entities");
    await expectTruth(ingest);
    expectSame(await dumpStore(ingest.store, indexed), await dumpFreshIndex(indexed));
  });

  it("keeps the last state of an entity that reverts, drops no other, and counts it", async () => {
    const metrics = createIngestMetrics({ name: "lending-ingest" });
    const ingest = await start({ metrics: lendingMetrics(metrics)(8453) });
    await ingest.catchUp();
    const [broken, sound] = chain.pools.map(({ address }) => address) as [Hex, Hex];
    const before = await stateOf(ingest, POOL, broken);
    await chain.swap(broken, { zeroForOne: true, amount: 10n ** 15n });
    await chain.swap(sound, { zeroForOne: true, amount: 10n ** 15n });
    await chain.mine(1, { intervalS: 2 });
    const code = await chain.anvil.rpc.call<Hex>("eth_getCode", [broken, "latest"]);
    await chain.anvil.rpc.call("anvil_setCode", [broken, REVERTING]);
    try {
      await chain.mine(1);
      for (let i = 0; i < 4; i++) {
        await ingest.catchUp();
        await chain.mine(1, { intervalS: 5 });
      }
      await ingest.catchUp();
      expect(await stateOf(ingest, POOL, broken)).to.deep.equal(before);
      const row = await ingest.store.get(entities, { chainId: 8453, kind: POOL, id: broken });
      expect(row?.failures, "again after ten seconds").to.equal(2);
      const { tick } = await chain.slot0(sound);
      expect(await stateOf(ingest, POOL, sound)).to.deep.include({ tick });
      const side = await stateOf<{ token: { address: Hex }; balance: bigint }>(ingest, SIDE, `${broken}:0`);
      expect(side.balance).to.equal(await chain.balanceOf(side.token.address, broken));
      expect(
        ingest.lines.filter((line) => line.includes(broken)),
        "said once",
      ).to.have.length(1);
      const text = await metrics.render();
      expect(text).to.contain(
        `lending_entity_failures_total{chain="8453",kind="${POOL}",service="lending-ingest"} 2`,
      );
      expect(text).to.contain(
        `lending_unreadable_entities{chain="8453",kind="${POOL}",service="lending-ingest"} 1`,
      );
    } finally {
      await chain.anvil.rpc.call("anvil_setCode", [broken, code]);
    }
    await chain.mine(1, { intervalS: 600 });
    await ingest.catchUp();
    await expectTruth(ingest);
    expect((await ingest.store.get(entities, { chainId: 8453, kind: POOL, id: broken }))?.failures).to.equal(
      0,
    );
  });

  it("reads again, in time, what changes without an event", async () => {
    const ingest = await start({ refreshSeconds: 600 });
    await ingest.catchUp();
    const pool = chain.pools.find(({ token0, token1 }) => [token0, token1].some(isUsdc));
    if (pool === undefined) throw new Error("No pool has USDC.");
    const side = `${pool.address}:${isUsdc(pool.token0) ? 0 : 1}`;
    const balance = async () => (await stateOf<{ balance: bigint }>(ingest, SIDE, side)).balance;
    const before = await balance();
    const data = encodeFunctionData({ abi: devToken, functionName: "mint", args: [pool.address, 12_345n] });
    const to = chain.deployment.tokens.USDC.address;
    await chain.sendTransactions([{ from: chain.accounts[1] as Hex, to, data, gas: "0x100000" }]);
    await chain.mine(1, { intervalS: 2 });
    await ingest.catchUp();
    expect(await balance(), "not yet").to.equal(before);
    await chain.mine(1, { intervalS: 600 });
    await ingest.catchUp();
    await expectTruth(ingest);
    expect(await balance()).to.equal(before + 12_345n);
    const times = (await ingest.store.find(entities, {})).map(({ time }) => time ?? 0);
    expect(Math.min(...times)).to.equal(ingest.checkpoint().blockTime);
  });

  it("runs a protocol's new scan", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    const blind = { ...poolProtocol, scans: () => [], topics: [] } as LendingProtocol;
    const first = await start({ store }, { ...indexed, protocols: [blind] });
    await first.catchUp();
    expect(await store.count(entities, { kind: POOL })).to.equal(0);
    const second = await start({ store });
    await chain.mine(1, { intervalS: 2 });
    await second.catchUp();
    await expectTruth(second);
    for (const ingest of started.splice(started.length - 2)) await ingest.close();
    await store.close();
  });

  it("takes back what an interrupted write found that could not even be read", async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    const first = await start({ store });
    await first.catchUp();
    const { version, blockNumber, epoch } = first.checkpoint();
    const ghost = { chainId: 8453, kind: POOL, id: `0x${"ab".repeat(20)}`, version: version + 1 };
    const unread = { block: null, blockHash: null, time: null, state: null, failures: 1 };
    await store.write([put(entities, [{ ...ghost, ...unread, foundBlock: blockNumber + 1 }])]);
    const second = await start({ store });
    await chain.mine(1, { intervalS: 2 });
    await second.catchUp();
    await expectTruth(second);
    expect(second.checkpoint().epoch).to.equal(epoch + 1);
    for (const ingest of started.splice(started.length - 2)) await ingest.close();
    await store.close();
  });

  it("refuses a store of another chain, even one where nothing has been read yet", async () => {
    const other = await createTestChain({ timestamp: 1_600_000_000, poolCount: 1 });
    const store = await openSqliteStore({ path: ":memory:" });
    try {
      await start({ store });
      const error = await start({ store, urls: [other.url] }).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(OtherChain);
      expect(await store.count(checkpoints, {})).to.equal(0);
    } finally {
      for (const ingest of started.splice(0)) await ingest.close();
      await other.stop();
      await store.close();
    }
  });
});
