import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import { type GeyserServer, startGeyserServer } from "../../../deploy/devnet/solana/geyser/server.ts";
import { createTestSolana, type TestSolana } from "../../../deploy/devnet/solana/testkit.ts";
import type { Store } from "../../shared/storage/port.ts";
import { describeWithChain, itThorough } from "../../shared/testkit/describe.ts";
import type { StreamTask } from "../ingest/read/stream-task.ts";
import { poolRows, tokenRows } from "../store/collections.ts";
import { expectEqualIndexes } from "./comparable.ts";
import { startTestIngest } from "./harness.ts";
import { type RunningIngest, runTestIngest } from "./running-ingest.ts";
import { contents, openTestStore } from "./store.ts";

const TOKEN = "a token of forty characters for the test";

describeWithChain("Solana from a Yellowstone gRPC stream", () => {
  let solana: TestSolana;
  let geyser: GeyserServer;
  let store: Store;
  let ingest: RunningIngest | undefined;

  beforeEach(async () => {
    solana = await createTestSolana({ seed: 11, transactions: 6 });
    geyser = await startGeyserServer(solana.chain, { token: TOKEN });
    store = await openTestStore();
    solana.produce(40);
  });
  afterEach(async () => {
    await ingest?.stop();
    ingest = undefined;
    await geyser.close();
    await store.close();
    await solana.stop();
  });

  function start(more: Partial<StreamTask> = {}): RunningIngest {
    const endpoint = { url: geyser.url, token: TOKEN };
    const quick = { backoffMs: 20, maxBackoffMs: 50, patienceMs: 300, silenceMs: 60_000 };
    ingest = runTestIngest(store, solana.servers, {
      stream: { endpoint, withHolders: true, ...quick, ...more },
    });
    return ingest;
  }
  const head = () => solana.chain.head("confirmed");
  const wholeBlocks = () => solana.servers[0]?.calls.get("getBlock") ?? 0;

  /** Produces slots one by one, each indexed before the next. */
  async function follow(slots: number): Promise<void> {
    for (let i = 0; i < slots; i++) {
      solana.produce(1);
      await ingest?.at(head());
    }
  }

  /** Until the ingest has asked for blocks with their transactions. */
  async function followToWholeBlocks(): Promise<void> {
    const isWhole = () =>
      geyser.subscriptions.some(({ transactions = {} }) => !("transactions" in transactions));
    while (!isWhole()) await follow(1);
  }

  async function expectWhole(): Promise<void> {
    const fresh = await startTestIngest(solana);
    await fresh.catchUp();
    expectEqualIndexes(await contents(store), await contents(fresh.store));
    await fresh.close();
  }

  it("gives the index that getBlock gives, and asks for hardly a block", async () => {
    // On a busy machine a slot is longer under way than another test wants to wait for it.
    await start({ patienceMs: 20_000 }).at(head());
    await follow(5);
    const before = wholeBlocks();
    await follow(30);
    // Links of final blocks, and a comparison now and then.
    expect(wholeBlocks() - before).to.be.lessThan(20);
    expect(geyser.subscriptions).to.have.length(1);
    await expectWhole();
  });

  itThorough("goes on after every disconnection with the next slot, by replay", async () => {
    await start().at(head());
    for (let i = 0; i < 4; i++) {
      await follow(3);
      geyser.disconnect();
      solana.produce(4);
      await ingest?.at(head());
    }
    await follow(2);
    expect(geyser.subscriptions.length).to.be.greaterThan(4);
    const fromSlots = geyser.subscriptions.map(({ fromSlot }) => fromSlot as number);
    expect(fromSlots.slice(1).every((slot, i) => slot > (fromSlots[i] as number))).to.equal(true);
    await expectWhole();
  });

  itThorough(
    "reads by getBlock what a server without replay does not have, and where the stream stalls",
    async () => {
      geyser.faults.replaySlots = 0;
      await start().at(head());
      await follow(5);
      geyser.disconnect();
      solana.produce(6);
      await ingest?.at(head());
      geyser.faults.isPaused = true;
      geyser.disconnect();
      solana.produce(6);
      await ingest?.at(head());
      geyser.faults.isPaused = false;
      await follow(5);
      expect(geyser.subscriptions.at(-1)?.fromSlot).to.equal(undefined);
      await expectWhole();
    },
  );

  it("asks for whole blocks where single transactions are refused", async () => {
    geyser.faults.refuses = "transactions";
    await start({ patienceMs: 20_000 }).at(head());
    await follow(8);
    await followToWholeBlocks();
    await expectWhole();
  });

  it("asks for whole blocks where single transactions come without an end", async () => {
    geyser.faults.alter = (block) => (block.transactions.length === 0 ? undefined : block);
    await start({ silenceMs: 1_000 }).at(head());
    await followToWholeBlocks();
    await ingest?.said("no block for 1000 ms");
    await follow(3);
    await expectWhole();
  });

  it("reads again what a transaction came too late for, and asks for whole blocks from then on", async () => {
    await start().at(head());
    await follow(3);
    geyser.faults.isLate = true;
    await followToWholeBlocks();
    await ingest?.said("came after its block");
    await follow(2);
    await expectWhole();
  });

  it("does without the stream where its token is refused", async () => {
    await start({ endpoint: { url: geyser.url, token: "another" } }).at(head());
    await follow(3);
    expect(geyser.subscriptions).to.deep.equal([]);
    expect(ingest?.lines.some((line) => line.includes("No valid auth token"))).to.equal(true);
    await expectWhole();
  });

  it("follows a fork, whatever the stream had pushed", async () => {
    await start().at(head());
    for (const slots of [1, 3, 8]) {
      await follow(4);
      solana.fork(slots);
      await ingest?.at(head());
    }
    await follow(3);
    await expectWhole();
  });

  it("finds withheld transactions by getBlock, and reads again what was not compared", async () => {
    await start({ proofEvery: 6 }).at(head());
    await follow(7);
    geyser.faults.alter = (block) => ({ ...block, transactions: [] });
    for (let i = 0; i < 12; i++) await follow(1);
    await ingest?.said("the stream is set aside");
    await follow(2);
    await expectWhole();
  });

  it("uses no block that is malformed or another cluster's", async () => {
    await start().at(head());
    await follow(2);
    geyser.faults.alter = (block) => ({
      ...block,
      transactions: block.transactions.map((each) => ({ ...each, index: 0 })),
    });
    await follow(2);
    geyser.faults.alter = (block) => ({ ...block, parentBlockhash: block.blockhash });
    await follow(2);
    geyser.faults.alter = (block) => block;
    await follow(2);
    await expectWhole();
  });

  it("has trades and liquidity alone without holders, for fewer bytes", async () => {
    await start({ withHolders: false, proofEvery: 4 }).at(head());
    await follow(20);
    await ingest?.stop();
    ingest = undefined;
    const fresh = await startTestIngest(solana);
    await fresh.catchUp();
    const [found, whole] = [await contents(store), await contents(fresh.store)];
    for (const { name } of [tokenRows, poolRows]) expect(found[name]).to.deep.equal(whole[name]);
    expect(found.holders).to.deep.equal([]);
    expect(found.supply_rows).to.deep.equal([]);
    await fresh.close();
  });
});
