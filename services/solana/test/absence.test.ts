import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { afterEach, it } from "mocha";
import { createTestSolana, type TestSolana } from "../../../deploy/devnet/solana/testkit.ts";
import type { Store } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import { describeOnEngines } from "../../shared/storage/testkit/engines.ts";
import { COLLECTIONS, finalBlocks } from "../store/collections.ts";
import { expectEqualIndexes } from "./comparable.ts";
import { startTestIngest } from "./harness.ts";
import { type RunningIngest, runTestIngest } from "./running-ingest.ts";
import { contents } from "./store.ts";
import { type SwitchedEndpoint, startSwitches } from "./switched-endpoint.ts";

/** How many slots are replaced at the head, and how many come before the ingest is back. Few where a user runs the tests. */
const isThorough = process.env.TEST_ABSENCES === "all";
const CASES = isThorough
  ? [
      ...[1, 2, 7, 20].map((replaced) => ({ replaced, come: 257 })),
      ...[1, 20].flatMap((replaced) => [1, 255].map((come) => ({ replaced, come }))),
      { replaced: 20, come: 5_000 },
    ]
  : [
      { replaced: 1, come: 1 },
      { replaced: 20, come: 255 },
      { replaced: 3, come: 257 },
    ];
/** Slots at both ends of an absence in which there is trade: between them a long one has votes alone, which is quick. */
const BUSY = 130;

/** Everything that an index of the chain as it is now holds. */
async function freshContents(solana: TestSolana): Promise<Record<string, unknown[]>> {
  const store = await openSqliteStore({ path: ":memory:" });
  const ingest = await startTestIngest(solana, { store });
  await ingest.catchUp();
  const found = await contents(store);
  await ingest.close();
  await store.close();
  return found;
}

async function catchUp(solana: TestSolana, store: Store): Promise<void> {
  const ingest = await startTestIngest(solana, { store });
  await ingest.catchUp();
  await ingest.close();
}

describeOnEngines(
  (engine) => `Solana ingest after an absence, on ${engine}`,
  { rounds: isThorough ? 30 : 15, thorough: true },
  (engine) => {
    let solana: TestSolana;
    let opened: Awaited<ReturnType<typeof engine.open>>;
    let endpoints: readonly SwitchedEndpoint[] = [];
    let running: RunningIngest | undefined;

    async function begin(options: { readonly kept?: number } = {}): Promise<Store> {
      solana = await createTestSolana({ seed: 3, transactions: 2, endpoints: 2, ...options });
      opened = await engine.open();
      await opened.store.declare(COLLECTIONS);
      return opened.store;
    }
    afterEach(async () => {
      await running?.stop();
      running = undefined;
      for (const endpoint of endpoints) await endpoint.close();
      endpoints = [];
      await solana?.stop();
      await opened?.remove();
    });

    for (const { replaced, come } of CASES) {
      it(`equals a fresh index where ${replaced} slots were replaced and ${come} came`, async () => {
        const store = await begin({ kept: 10_000 });
        solana.produce(90);
        await catchUp(solana, store);
        solana.fork(replaced);
        // A fork brings one slot more than it drops.
        const quiet = Math.max(come - 1 - 2 * BUSY, 0);
        solana.produce(Math.min(come - 1, BUSY));
        solana.produce(quiet, { transactions: 0 });
        solana.produce(Math.max(come - 1 - quiet - BUSY, 0));
        await catchUp(solana, store);
        expect(await contents(store)).to.deep.equal(await freshContents(solana));
      });
    }

    for (const kind of ["another genesis", "the same genesis and other blocks"] as const) {
      it(`stalls with one log line, deletes and mixes nothing while all endpoints have ${kind}`, async () => {
        const store = await begin();
        solana.produce(120);
        const other = await createTestSolana({ seed: kind === "another genesis" ? 4 : 3, transactions: 2 });
        try {
          other.produce(40);
          other.fork(20);
          other.produce(300);
          endpoints = await startSwitches([solana.chain, solana.chain]);
          const ingest = runTestIngest(store, endpoints);
          running = ingest;
          await ingest.at(solana.chain.head("confirmed"));
          for (const endpoint of endpoints) endpoint.serve(other.chain);
          await ingest.said("contradicts the index");
          const before = await contents(store);
          await sleep(1_500);
          expect(await contents(store)).to.deep.equal(before);
          const words = ingest.lines.filter((line) => line.includes("contradicts the index (127.0.0.1"));
          expect(words, ingest.lines.join("\n")).to.have.length(1);
          expect(words[0]).to.contain("npm run reindex -- --chain solana");
          for (const endpoint of endpoints) endpoint.serve(solana.chain);
          solana.produce(50);
          await ingest.at(solana.chain.head("confirmed"));
          await ingest.said("serve the index again");
          await ingest.stop();
          expectEqualIndexes(await contents(store), await freshContents(solana));
        } finally {
          await other.stop();
        }
      });
    }

    it("sets one endpoint of two aside that contradicts the index, and goes on", async () => {
      const store = await begin();
      solana.produce(120);
      const other = await createTestSolana({ seed: 3, transactions: 2 });
      try {
        other.produce(40);
        other.fork(20);
        other.produce(300);
        endpoints = await startSwitches([solana.chain, solana.chain]);
        const ingest = runTestIngest(store, endpoints);
        running = ingest;
        await ingest.at(solana.chain.head("confirmed"));
        const final = await store.get(finalBlocks, { chainId: 0 });
        endpoints[0]?.serve(other.chain);
        await ingest.said("it contradicts the index");
        for (let i = 0; i < 10; i++) {
          solana.produce(5);
          await ingest.at(solana.chain.head("confirmed"));
          // The final head is read every two seconds.
          await sleep(250);
        }
        const named = new URL(endpoints[0]?.url ?? "").host;
        expect(ingest.lines.some((line) => line.includes("set aside") && line.includes(named))).to.equal(
          true,
        );
        expect(ingest.lines.some((line) => line.includes("Every Solana endpoint"))).to.equal(false);
        expect((await store.get(finalBlocks, { chainId: 0 }))?.slot).to.be.greaterThan(final?.slot ?? 0);
        await ingest.stop();
        expectEqualIndexes(await contents(store), await freshContents(solana));
      } finally {
        await other.stop();
      }
    });
  },
);
