import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { type GeyserServer, startGeyserServer } from "../../../deploy/devnet/solana/geyser/server.ts";
import { createTestSolana, type TestSolana } from "../../../deploy/devnet/solana/testkit.ts";
import { openStore } from "../../shared/storage/open.ts";
import type { Store } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import { describeThoroughRounds } from "../../shared/testkit/describe.ts";
import type { TestProcess } from "../../shared/testkit/process.ts";
import {
  type ServiceProcess,
  startIngestProcess,
  startServiceProcess,
} from "../../shared/testkit/service-process.ts";
import { WRAPPED_SOL } from "../decode/model.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import { expectEqualIndexes } from "./comparable.ts";
import { startTestIngest } from "./harness.ts";
import { contents } from "./store.ts";

const INGEST = new URL("../ingest/main.ts", import.meta.url);
const SERVICE = new URL("../main.ts", import.meta.url);
const TROUBLES = ["kill", "pause", "disconnect", "silence", "fork"] as const;

describeThoroughRounds(TROUBLES.length, "Solana over gRPC: an ingest, its standby and two replicas", () => {
  let solana: TestSolana;
  let geyser: GeyserServer;
  let dataDir: string;
  let store: Store;
  const replicas: ServiceProcess[] = [];
  let ingests: TestProcess[] = [];

  before(async () => {
    solana = await createTestSolana({ seed: 17, transactions: 5 });
    geyser = await startGeyserServer(solana.chain);
    solana.produce(45);
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-solana-standby-"));
    store = await openStore({ service: "solana", dataDir });
    await store.declare(COLLECTIONS);
  });
  after(async () => {
    for (const each of [...ingests, ...replicas]) await each.stop("SIGKILL");
    await geyser?.close();
    await store?.close();
    await solana?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  const startIngest = () =>
    startIngestProcess(INGEST, {
      ...{ SOLANA_RPC: solana.urls.join(), SOLANA_GRPC: geyser.url, START_BLOCK_SOLANA: "0" },
      DATA_DIR: dataDir,
    });
  const head = () => solana.chain.head("confirmed");
  const reached = async () => (await getCheckpoint(store))?.slot === head();

  async function catchUp(): Promise<void> {
    while (!(await reached())) await sleep(20);
  }

  async function follow(slots: number): Promise<void> {
    for (let i = 0; i < slots; i++) {
      solana.produce(1);
      await sleep(10);
    }
    await catchUp();
  }

  /** What both replicas answer, which has to be the same. */
  async function askReplicas(): Promise<unknown> {
    const path = `/api/v1/solana/token-transactions?token_address=${WRAPPED_SOL}&days=1&limit=1000`;
    const answers = await Promise.all(
      replicas.map(async ({ httpUrl }) => (await fetch(`${httpUrl}${path}`)).json()),
    );
    expect(answers[0]).to.deep.equal(answers[1]);
    return answers[0];
  }

  const troubles: Readonly<Record<(typeof TROUBLES)[number], (leader: TestProcess) => Promise<void>>> = {
    async kill(leader) {
      await leader.stop("SIGKILL");
      ingests = [...ingests.filter((each) => each !== leader), startIngest()];
    },
    async pause(leader) {
      // Not by child.kill(): Deno would take the child for ended.
      process.kill(leader.child.pid as number, "SIGSTOP");
      // The standby takes over, and what the paused one still has to write comes too late.
      solana.produce(3);
      await catchUp();
      process.kill(leader.child.pid as number, "SIGCONT");
    },
    async disconnect() {
      geyser.disconnect();
    },
    async silence() {
      geyser.faults.isPaused = true;
      solana.produce(2);
      await catchUp();
      geyser.faults.isPaused = false;
    },
    async fork() {
      solana.fork(6);
    },
  };

  it("loses and doubles nothing", async () => {
    ingests = [startIngest(), startIngest()];
    await catchUp();
    replicas.push(await startServiceProcess(SERVICE, { DATA_DIR: dataDir }));
    replicas.push(await startServiceProcess(SERVICE, { DATA_DIR: dataDir }));
    for (const trouble of TROUBLES) {
      await follow(6);
      // Either may be the leader; trouble that strikes the standby alone has to be harmless too.
      const leader = ingests[0] as TestProcess;
      await troubles[trouble](leader);
      await follow(6);
    }
    const fresh = await openSqliteStore({ path: ":memory:" });
    const alone = await startTestIngest(solana, { store: fresh });
    await alone.catchUp();
    expectEqualIndexes(await contents(store), await contents(fresh));
    const rows = (await askReplicas()) as { data: unknown[][] };
    const [newest] = await contents(fresh).then(({ token_rows }) =>
      (token_rows as { mint: string; slot: number; signature: string }[])
        .filter(({ mint }) => mint === WRAPPED_SOL)
        .slice(-1),
    );
    expect(rows.data[0]?.slice(0, 2)).to.deep.equal([newest?.signature, newest?.slot]);
    expect(geyser.subscriptions.length).to.be.greaterThan(2);
    await alone.close();
    await fresh.close();
  });
});
