import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { it } from "mocha";
import { createRandom } from "../../../deploy/devnet/random.ts";
import type { RpcServer } from "../../../deploy/devnet/solana/server/rpc-server.ts";
import { createTestSolana, type TestSolana } from "../../../deploy/devnet/solana/testkit.ts";
import type { Store } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import { describeWithChain, itThorough, randomRuns } from "../../shared/testkit/describe.ts";
import { expectSame } from "../../shared/testkit/expect-same.ts";
import { type SlotRange, type SolanaSource, SolanaUpstreamError } from "../chain/port.ts";
import type { BlockReader, DecodedBlock } from "../ingest/read/decoded-block.ts";
import { createLocalReader } from "../ingest/read/reader.ts";
import { SegmentBuilder } from "../ingest/segments/segment-builder.ts";
import { type SegmentRow, segments, tokenRows } from "../store/collections.ts";
import { startTestIngest, type TestIngest } from "./harness.ts";
import { contents } from "./store.ts";

type Random = ReturnType<typeof createRandom>;

const SEGMENT_ROWS = 60;

/** Reads a range in parts, in any order, some of them twice, with responses at any time. */
function readOutOfOrder(source: SolanaSource, random: Random): BlockReader {
  const reader = createLocalReader(source);
  const readLate = async (range: SlotRange): Promise<DecodedBlock[]> => {
    await sleep(random.below(4));
    return reader.blocks(range);
  };
  return {
    async blocks({ fromSlot, toSlot, commitment }) {
      const parts: SlotRange[] = [];
      for (let from = fromSlot; from <= toSlot; ) {
        const to = Math.min(toSlot, from + random.below(5));
        parts.push({ fromSlot: from, toSlot: to, commitment });
        from = to + 1;
      }
      const requests = [...parts, ...parts.filter(() => random.below(4) === 0)];
      requests.sort(() => random.below(3) - 1);
      const found = await Promise.all(requests.map(readLate));
      const bySlot = new Map(found.flat().map((block) => [block.slot, block]));
      return [...bySlot.values()].sort((a, b) => a.slot - b.slot);
    },
  };
}

/** Returns one slot's block where another is requested; its slot is not part of a response. */
function answerFor(
  wanted: number,
  chain: TestSolana["chain"],
  slot: number,
): RpcServer["faults"]["intercept"] {
  return ({ method, params: [requested, options] }) => {
    const other = chain.block(slot);
    const isFull = (options as { transactionDetails?: string })?.transactionDetails === "full";
    if (method !== "getBlock" || requested !== wanted || other === undefined || !isFull) return undefined;
    return { result: { ...JSON.parse(other.head), transactions: JSON.parse(other.transactions()) } };
  };
}

/** Nodes that have lost some blocks, and return another one now and then. */
function spoil(servers: readonly RpcServer[], options: { chain: TestSolana["chain"]; random: Random }): void {
  const { chain, random } = options;
  const head = chain.head("confirmed");
  for (const { faults } of servers) {
    faults.hidden.clear();
    for (let i = random.below(3); i > 0; i--) faults.hidden.add(head - random.below(12));
    faults.missingCode = ([-32004, -32007, -32009, null] as const)[random.below(4)] ?? null;
    faults.intercept = ({ method, params }) => {
      if (method !== "getBlock" || random.below(20) > 0) return undefined;
      const slot = params[0] as number;
      return (
        answerFor(slot, chain, slot - 1)?.({ method, params }) ??
        (random.below(2) === 0 ? "reset" : { status: 503 })
      );
    };
  }
}

function mend(servers: readonly RpcServer[]): void {
  for (const { faults } of servers) {
    faults.hidden.clear();
    faults.intercept = undefined;
  }
}

async function start(solana: TestSolana, options: { store: Store; random: Random }): Promise<TestIngest> {
  return startTestIngest(solana, {
    store: options.store,
    reader: (source) => readOutOfOrder(source, options.random),
    hooks: ({ store }) => [new SegmentBuilder({ store, guard: () => [], segmentRows: SEGMENT_ROWS })],
  });
}

/** A chain that grows, forks and is badly served, indexed all the while. */
async function liveThrough(
  solana: TestSolana,
  options: { store: Store; seed: number; stepS: number; spanS: number },
): Promise<void> {
  const { store, seed, stepS, spanS } = options;
  const random = createRandom(seed);
  solana.produce(Math.max(50, Math.ceil(spanS / stepS)), { stepS });
  let ingest = await start(solana, { store, random });
  for (let round = 0; round < randomRuns(30); round++) {
    solana.produce(1 + random.below(random.below(5) === 0 ? 50 : 7), { stepS });
    if (random.below(3) === 0) solana.fork(1 + random.below(9));
    if (random.below(2) === 0) spoil(solana.servers, { chain: solana.chain, random });
    try {
      for (let steps = random.below(4); steps > 0; steps--) await ingest.step();
    } catch (error) {
      // What no node returns is requested again later.
      if (!(error instanceof SolanaUpstreamError)) throw error;
    }
    if (random.below(3) > 0) mend(solana.servers);
    if (random.below(4) > 0) continue;
    mend(solana.servers);
    await ingest.close();
    ingest = await start(solana, { store, random });
  }
  mend(solana.servers);
  // A fork that the ingest has not seen ends before its head.
  solana.produce(12, { stepS });
  await ingest.catchUp();
  expect(ingest.checkpoint().slot).to.equal(solana.chain.head("confirmed"));
  await ingest.close();
}

/** Everything but segments, and those by list. */
async function dump(store: Store) {
  const { [segments.name]: _, ...rest } = await contents(store);
  const byList = new Map<string, SegmentRow[]>();
  for (const row of await store.find(segments, {}))
    byList.set(row.list, [...(byList.get(row.list) ?? []), row]);
  return { rest, byList };
}

describeWithChain("Solana ingest: replays", () => {
  for (const { seed, stepS, span, spanS, test } of [
    { seed: 1, stepS: 0.4, span: "minutes", spanS: 60, test: it },
    { seed: 2, stepS: 1_200, span: "a day", spanS: 86_400, test: itThorough },
  ]) {
    test(`of ${span} end as a fresh index, however blocks came, were missing and were dropped`, async () => {
      const solana = await createTestSolana({ seed, endpoints: 2, transactions: 5, skipped: 0.15 });
      const stores = [
        await openSqliteStore({ path: ":memory:" }),
        await openSqliteStore({ path: ":memory:" }),
      ] as const;
      try {
        await liveThrough(solana, { store: stores[0], seed, stepS, spanS });
        const fresh = await startTestIngest(solana, {
          store: stores[1],
          hooks: ({ store }) => [new SegmentBuilder({ store, guard: () => [], segmentRows: SEGMENT_ROWS })],
        });
        await fresh.catchUp();
        const { time, fromTime } = fresh.checkpoint();
        expect(time - fromTime).to.be.at.least(spanS);
        await fresh.close();
        const [replayed, indexed] = [await dump(stores[0]), await dump(stores[1])];
        for (const [name, rows] of Object.entries(indexed.rest)) expectSame(replayed.rest[name], rows, name);
        // How far lists are counted depends on when slots became final; what is counted does not.
        let compared = 0;
        for (const [list, rows] of indexed.byList) {
          const others = replayed.byList.get(list) ?? [];
          const both = Math.min(rows.length, others.length);
          expectSame(others.slice(0, both), rows.slice(0, both), list);
          compared += both;
        }
        // Slow answers give up sooner, and leave fewer of them.
        expect(compared).to.be.greaterThan(0);
      } finally {
        await Promise.all(stores.map((store) => store.close()));
        await solana.stop();
      }
    });
  }

  it("takes no block as final that came for the slot after its own, which every node hid", async () => {
    const solana = await createTestSolana({ seed: 4, endpoints: 2, transactions: 3, skipped: 0 });
    const stores = [
      await openSqliteStore({ path: ":memory:" }),
      await openSqliteStore({ path: ":memory:" }),
    ] as const;
    try {
      solana.produce(120);
      const final = solana.chain.head("finalized");
      for (const { faults } of solana.servers) {
        faults.hidden.add(final - 1);
        faults.intercept = answerFor(final, solana.chain, final - 1);
      }
      const ingest = await startTestIngest(solana, { store: stores[0] });
      // The block fits its parent: only its successor, and the hash of its slot, tell that it came for another one.
      await ingest.step();
      expect(ingest.checkpoint()).to.include({ slot: final - 2, finalizedSlot: final - 2 });
      mend(solana.servers);
      solana.produce(50);
      await ingest.catchUp();
      expect(ingest.checkpoint().slot).to.equal(solana.chain.head("confirmed"));
      await ingest.close();
      const fresh = await startTestIngest(solana, { store: stores[1] });
      await fresh.catchUp();
      await fresh.close();
      const [replayed, indexed] = [await dump(stores[0]), await dump(stores[1])];
      for (const [name, rows] of Object.entries(indexed.rest)) expectSame(replayed.rest[name], rows, name);
    } finally {
      await Promise.all(stores.map((store) => store.close()));
      await solana.stop();
    }
  });

  it("waits before a block that every node hides, and continues once one has it", async () => {
    const solana = await createTestSolana({ seed: 3, endpoints: 2, transactions: 3, skipped: 0 });
    const store = await openSqliteStore({ path: ":memory:" });
    try {
      const made = solana.produce(60);
      const hidden = made[50]?.slot ?? 0;
      for (const { faults } of solana.servers) faults.hidden.add(hidden);
      const ingest = await startTestIngest(solana, { store, patienceMs: 200 });
      const failed = await ingest.catchUp().catch((error: unknown) => error);
      expect(failed).to.be.instanceOf(SolanaUpstreamError);
      expect(String(failed)).to.contain(`slot ${hidden} has no block`);
      expect(ingest.checkpoint().slot).to.be.below(hidden);
      solana.servers[1]?.faults.hidden.clear();
      await ingest.catchUp();
      expect(ingest.checkpoint().slot).to.equal(made.at(-1)?.slot);
      const seen = new Set((await store.find(tokenRows, { fields: ["slot"] })).map(({ slot }) => slot));
      expect(seen.has(hidden)).to.equal(true);
      await ingest.close();
    } finally {
      await store.close();
      await solana.stop();
    }
  });
});
