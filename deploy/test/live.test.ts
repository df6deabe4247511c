import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeWithChain } from "../../services/shared/testkit/describe.ts";
import { EventReader } from "../../services/shared/testkit/event-reader.ts";
import { startProgram, type TestProcess } from "../../services/shared/testkit/process.ts";
import { createTestChain, type TestChain } from "../devnet/testkit.ts";

const KEY = "key of this test alone";

describeWithChain("live streams of a chain, through all processes", () => {
  let chain: TestChain;
  let dataDir: string;
  let url: string;
  const started: TestProcess[] = [];
  const readers: EventReader[] = [];

  before(async () => {
    chain = await createTestChain({ poolCount: 2, families: ["aave-v3"] });
    await chain.mine(1, { intervalS: 2 });
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-live-"));
    const env = { DATA_DIR: dataDir, DEPLOYMENTS_FILE: chain.deploymentsFile, LOG_LEVEL: "info" };
    const start = (path: string, more: Record<string, string> = {}) => {
      const program = startProgram(path, { env: { ...env, HTTP_PORT: "0", GRPC_PORT: "0", ...more } });
      started.push(program);
      return program;
    };
    const rpc = { EVM_RPC_8453: chain.url, START_BLOCK_8453: "0" };
    start("services/evm-dex/ingest/main.ts", rpc);
    start("services/lending/ingest/main.ts", rpc);
    const evmDex = await start("services/evm-dex/main.ts").logged("listening");
    const { grpcAddress: EVM_DEX_GRPC } = evmDex;
    const lending = await start("services/lending/main.ts", { EVM_DEX_GRPC }).logged("listening");
    const gateway = start("gateway/main.ts", {
      ...{ GATEWAY_PORT: "0", BOOTSTRAP_API_KEY: KEY, EVM_DEX_URL: evmDex.httpUrl, EVM_DEX_GRPC },
      ...{ LENDING_URL: lending.httpUrl, LENDING_GRPC: lending.grpcAddress },
    });
    ({ url } = await gateway.logged("listening"));
  });
  after(async () => {
    for (const reader of readers) reader.close();
    await Promise.all(started.map((program) => program.stop("SIGKILL")));
    await chain?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  /** A stream of a table that is there. */
  const listen = async (path: string): Promise<EventReader> => {
    for (;;) {
      const reader = new EventReader(url + path, { "X-API-KEY": KEY });
      readers.push(reader);
      const isThere = await reader.count(1).then(
        ([first]) => first?.data.data.length > 0,
        () => false,
      );
      if (isThere) return reader;
      reader.close();
    }
  };
  /** Waits for the event of a block of the chain, and returns it. */
  const eventOf = async (reader: EventReader, block: number) => {
    const { hash } = await chain.anvil.rpc.call<{ hash: string }>("eth_getBlockByNumber", [
      `0x${block.toString(16)}`,
      false,
    ]);
    for (let count = 1; ; count += 1) {
      const event = (await reader.count(count))[count - 1];
      if (event?.data.hash === hash) return event;
    }
  };
  const swap = async (amount = 1_000_000n) => {
    const [pool] = chain.pools;
    await chain.swap(pool?.address as `0x${string}`, { zeroForOne: true, amount });
    return chain.mine(1, { intervalS: 2 });
  };

  it("tell a pool's swap, and that a reorg took it back", async () => {
    const pool = `/evm/dexb/v3/pool?pool_address=${chain.pools[0]?.address}`;
    const reader = await listen(pool);
    const columns = reader.events[0]?.data.columns.map(({ name }: { name: string }) => name);
    const tickOf = (row: readonly unknown[]) => row[columns.indexOf("currentSqrtPriceX96")];
    const before = tickOf(reader.events[0]?.data.data[0]);
    const change = await eventOf(reader, await swap());
    expect(change.name).to.equal("change");
    expect(tickOf(change.data.rows[0])).not.to.equal(before);
    const head = await chain.reorg(1, { transactionsPerBlock: 0 });
    const after = await eventOf(reader, head);
    // Told with the new block, or with the last common one where the ingest was seen in between.
    const [reorg] = reader.named("reorg");
    expect(reorg?.data.takenBack).to.deep.equal([{ block: change.data.block, hash: change.data.hash }]);
    expect(tickOf(reorg?.data.rows[0])).to.equal(before);
    const answer = await fetch(url + pool, { headers: { "X-API-KEY": KEY } });
    expect(answer.headers.get("x-data-block-hash")).to.equal(after.data.hash);
  });

  it("tell the price of a token that a swap has moved, and no price that it has not", async () => {
    const { token0, token1 } = chain.pools[0] as TestChain["pools"][0];
    const reader = await listen(`/evm/prices?tokens=${token0.address},${token1.address}`);
    const [snapshot] = reader.events;
    const columns = snapshot?.data.columns.map(({ name }: { name: string }) => name);
    const prices = (rows: readonly (readonly unknown[])[]) =>
      new Map(rows.map((row) => [row[columns.indexOf("token")], row[columns.indexOf("priceUsd")]]));
    const before = prices(snapshot?.data.data);
    const change = await eventOf(reader, await swap(10n ** 18n));
    expect(change.name).to.equal("change");
    const moved = prices(change.data.rows);
    // The other one is the anchor.
    expect(moved.size).to.equal(1);
    for (const [token, price] of moved) expect(price).to.be.a("number").and.not.equal(before.get(token));
    const head = await chain.mine(1, { intervalS: 2 });
    expect((await eventOf(reader, head)).name).to.equal("head");
  });

  it("tell lending's tables of each block, once they are built", async () => {
    // Of a block that lending stands on: else the first event tells the reorg of the test before.
    const first = await chain.mine(1, { intervalS: 2 });
    const reader = await listen("/evm/lending/lendinga/v3/pools?chain_id=8453");
    await eventOf(reader, first);
    const told = reader.named("reorg").length;
    const event = await eventOf(reader, await swap());
    expect(["change", "head"]).to.include(event.name);
    const head = await chain.reorg(1, { transactionsPerBlock: 1 });
    await eventOf(reader, head);
    const reorg = reader.named("reorg")[told];
    expect(reorg?.data.takenBack[0]).to.deep.equal({ block: event.data.block, hash: event.data.hash });
  });
});
