import { expect } from "chai";
import { it } from "mocha";
import { DEX_FAMILIES } from "../../../deploy/devnet/plan.ts";
import { createTestChain } from "../../../deploy/devnet/testkit.ts";
import { put, remove } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import { loadDeployments } from "../deployments.ts";
import { readInactivePools } from "../ingest/reads/inactive-pools.ts";
import { ReadBudget } from "../ingest/reads/read-budget.ts";
import { readRequestedWallets } from "../ingest/reads/requested-wallets.ts";
import { COLLECTIONS } from "../store/collections.ts";
import { knownWallets, lpAnchors, lpPositions, walletRequests } from "../store/v2-collections.ts";
import { deployFeed } from "../test/kit/feed.ts";
import { mineBusyBlocks, startTestIngest } from "../test/kit/harness.ts";
import { COVERAGE, DELETED, NOT_SERVED } from "./coverage.ts";
import { copyChain, type Planting, plant } from "./plant.ts";
import { AuditRpc } from "./rpc.ts";
import { EVERYTHING } from "./scope.ts";
import { auditOnce } from "./testkit.ts";

const CHAIN_ID = 8453;

describeThorough("audit --plant", () => {
  it("has a check for every column of every collection, and for nothing else", () => {
    const columns = Object.fromEntries(
      COLLECTIONS.filter(({ name }) => !NOT_SERVED.has(name)).map(({ fields, name }) => [
        name,
        Object.keys(fields).sort(),
      ]),
    );
    const covered = Object.fromEntries(
      Object.entries(COVERAGE).map(([name, checks]) => [
        name,
        Object.keys(checks)
          .filter((column) => column !== DELETED)
          .sort(),
      ]),
    );
    expect(covered).to.deep.equal(columns);
    for (const checks of Object.values(COVERAGE))
      for (const [column, names] of Object.entries(checks))
        expect(names, column).to.have.length.greaterThan(0);
  });

  it("reports a wrong value of each column, of an index that begins in the middle of a chain", async () => {
    const chain = await createTestChain({ families: DEX_FAMILIES });
    const copy = await openSqliteStore({ path: ":memory:" });
    try {
      const feed = await deployFeed(chain);
      await feed.tell(100_020_000n);
      await mineBusyBlocks(chain, { blocks: 20, seed: 3 });
      const fromBlock = await chain.headNumber();
      await mineBusyBlocks(chain, { blocks: 15, seed: 4 });
      await feed.tell(97_000_000n);
      await mineBusyBlocks(chain, { blocks: 30, seed: 5 });
      const at = { url: chain.url, deploymentsFile: feed.deploymentsFile };
      const ingest = await startTestIngest(at, { startBlock: fromBlock });
      await ingest.catchUp();
      await readInactivePools({
        store: ingest.store,
        source: ingest.source,
        fromBlock,
        perSecond: 1e6,
        guard: () => [],
        signal: new AbortController().signal,
        pause: async () => {},
      });
      const held = await ingest.store.find(lpPositions, { filter: { chainId: CHAIN_ID } });
      const wallets = [...new Set(held.map(({ wallet }) => wallet))];
      const requests = wallets.map((wallet, i) => ({ chainId: CHAIN_ID, wallet, requestedAtMs: i }));
      await ingest.store.write([put(walletRequests, requests)]);
      const stop = new AbortController();
      await readRequestedWallets({
        store: ingest.store,
        source: ingest.source,
        budget: new ReadBudget(1_000, () => 0),
        guard: () => [],
        signal: stop.signal,
        pause: async () => stop.abort(),
      });
      // That one was read who held nothing before the index, no row but his own says.
      const anchored = new Set((await ingest.store.find(lpAnchors, {})).map(({ wallet }) => wallet));
      const read = await ingest.store.find(knownWallets, {});
      await ingest.store.write([
        remove(
          knownWallets,
          read.filter(({ wallet }) => !anchored.has(wallet)),
        ),
      ]);
      await copyChain(ingest.store, copy, CHAIN_ID);
      await ingest.close();
      const deployments = loadDeployments(feed.deploymentsFile)[0];
      const options = {
        store: copy,
        rpc: new AuditRpc(chain.url),
        chainId: CHAIN_ID,
        deployments,
        seed: 5,
      };
      const clean = () => auditOnce({ ...options, pools: 1_000, sampling: EVERYTHING });
      expect((await clean()).differences.slice(0, 12)).to.deep.equal([]);
      const plantings: Planting[] = [];
      for await (const planting of plant({ ...options, rowsAColumn: 2 })) plantings.push(planting);
      expect(plantings.filter(({ missed }) => missed.length > 0)).to.deep.equal([]);
      expect(plantings.filter(({ planted }) => planted === 0).map(({ column }) => column)).to.deep.equal([]);
      expect((await clean()).differences, "all is changed back").to.deep.equal([]);
    } finally {
      await copy.close();
      await chain.stop();
    }
  });
});
