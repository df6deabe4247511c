import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { createRandom } from "../../../deploy/devnet/random.ts";
import { createTestSolana, type TestSolana } from "../../../deploy/devnet/solana/testkit.ts";
import { openStore } from "../../shared/storage/open.ts";
import type { Store } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import { describeThoroughRounds } from "../../shared/testkit/describe.ts";
import { startIngestProcess } from "../../shared/testkit/service-process.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { expectEqualIndexes } from "./comparable.ts";
import { startTestIngest } from "./harness.ts";
import { contents } from "./store.ts";

const entry = new URL("../ingest/main.ts", import.meta.url);

/** Fewer where a user runs the tests; the full check runs all fifty. */
const KILLS = Math.ceil(Number(process.env.TEST_KILLS ?? 4));
/** Slots behind the head when the first process starts: it is killed in its backfill, too. */
const BEHIND = 160;

describeThoroughRounds(KILLS, "Solana ingest: SIGKILL", () => {
  let solana: TestSolana;
  let dataDir: string;
  let store: Store;

  before(async () => {
    solana = await createTestSolana({ seed: 5, transactions: 6, endpoints: 2 });
    solana.produce(BEHIND);
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-solana-kill-"));
    store = await openStore({ service: "solana", dataDir });
    await store.declare(COLLECTIONS);
  });
  after(async () => {
    await store?.close();
    await solana?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  it(`ends as a run without kills after ${KILLS} of them, and forks while it was down`, async () => {
    const env = { SOLANA_RPC: solana.urls.join(), START_BLOCK_SOLANA: "0", DATA_DIR: dataDir };
    const random = createRandom(9);
    const slotsAtKill: number[] = [];
    for (let i = 0; i < KILLS; i++) {
      const ingest = startIngestProcess(entry, env);
      await ingest.logged("indexing");
      const until = await progress(solana, { store, slots: random.below(Math.ceil(BEHIND / 2)) });
      // Slot by slot, so that kills fall between and into small writes too.
      for (let slots = random.below(20); slots > 0; slots--) {
        solana.produce(1);
        await sleep(random.below(6));
      }
      expect((await ingest.stop("SIGKILL")).signal).to.equal("SIGKILL");
      slotsAtKill.push(until);
      if (random.below(2) === 0) solana.fork(1 + random.below(12));
    }
    solana.produce(20);
    const last = startIngestProcess(entry, env);
    await last.logged("indexing");
    const head = solana.chain.head("confirmed");
    while ((await slotOf(store)) !== head) await sleep(20);
    expect(await last.stop("SIGTERM")).to.deep.equal({ code: 0, signal: null });
    expect(new Set(slotsAtKill).size, `kills came at slots ${slotsAtKill.join()}`).to.be.greaterThan(2);
    expectEqualIndexes(await contents(store), await indexAfresh(solana));
  });
});

/** A store indexed from the start by an ingest that has seen nothing else. */
async function indexAfresh(solana: TestSolana): Promise<Record<string, unknown[]>> {
  const fresh = await openSqliteStore({ path: ":memory:" });
  const ingest = await startTestIngest(solana, { store: fresh });
  await ingest.catchUp();
  const found = await contents(fresh);
  await ingest.close();
  await fresh.close();
  return found;
}

/** Waits until so many slots have come, or the head has; returns the store's slot. */
async function progress(solana: TestSolana, options: { store: Store; slots: number }): Promise<number> {
  const start = (await slotOf(options.store)) ?? 0;
  const head = solana.chain.head("confirmed");
  for (;;) {
    const slot = (await slotOf(options.store)) ?? 0;
    if (slot >= Math.min(start + options.slots, head)) return slot;
    await sleep(2);
  }
}

/** Undefined while the first ingest has not made the store yet. */
async function slotOf(store: Store): Promise<number | undefined> {
  return (await getCheckpoint(store))?.slot;
}
