import { expect } from "chai";
import { after, before, it } from "mocha";
import type { Address } from "../../../../deploy/devnet/node/transactions.ts";
import { createTestChain, type TestChain } from "../../../../deploy/devnet/testkit.ts";
import type { Cell } from "../../../shared/contract/column.ts";
import { put, removeWhere } from "../../../shared/storage/port.ts";
import { describeOnEngines } from "../../../shared/storage/testkit/engines.ts";
import { describeThorough } from "../../../shared/testkit/describe.ts";
import { testContext } from "../../../shared/testkit/handler-context.ts";
import { dexaProviderSummary } from "../../contract.ts";
import { loadDeployments } from "../../deployments.ts";
import { dexaProviderSummaryHandler } from "../../endpoints/evm/dexa/v2/provider-summary.handler.ts";
import { readInactivePools } from "../../ingest/reads/inactive-pools.ts";
import { ReadBudget } from "../../ingest/reads/read-budget.ts";
import { readRequestedWallets } from "../../ingest/reads/requested-wallets.ts";
import type { ServeDeps } from "../../serve/deps.ts";
import { RequestedWallets } from "../../serve/provider/requested-wallets.ts";
import { WalletMemory } from "../../serve/provider/wallet-memory.ts";
import { priceLinks } from "../../store/collections.ts";
import { knownWallets, lpAnchors, lpPositions, walletRequests } from "../../store/v2-collections.ts";
import { depsOf, rowsOf } from "../kit/answers.ts";
import { startTestIngest, type TestIngest } from "../kit/harness.ts";
import { address } from "../kit/rows.ts";
import { mineAerodromeBlocks } from "./aerodrome-busy.ts";
import { liveOnPools } from "./v2-life.ts";

const GENESIS_S = 1_760_000_000;
const DAY = 86_400;
const NEAR = 1e-6;
/** Without any LP tokens. */
const STRANGER = address(0xdead1);

type Row = Record<string, Cell>;

interface Follower {
  readonly v2Tables: ServeDeps["v2Tables"];
  readonly memory: WalletMemory;
}

describeThorough("dexa v2: an index that begins after its pools", () => {
  let chain: TestChain;
  /** From the chain's beginning: it knows every position by its events. */
  let full: TestIngest;
  let wallets: Address[];
  /** By ingest: what follows its heads, reorgs included. */
  const followers = new Map<TestIngest, Follower>();
  let silent: Address[];

  before(async () => {
    const families = ["aerodrome-v2"] as const;
    chain = await createTestChain({ timestamp: GENESIS_S, poolCount: 2, families, keptStates: 1_000 });
    silent = await giveToSilentWallets(chain);
    await liveOnPools(chain);
    full = await startTestIngest(chain);
    await full.catchUp();
    wallets = [...new Set([...chain.aerodrome.providers, ...silent, STRANGER])];
  });
  after(async () => {
    await full?.close();
    await chain?.stop();
  });

  /** The summary of a wallet, and whether it came with the header. */
  async function summaryOf(ingest: TestIngest, wallet: Address) {
    const requested = new RequestedWallets(ingest.store, {
      againMs: 0,
      onFailure: (error) => expect.fail(String(error)),
    });
    const deps = { ...depsOf(ingest.store, loadDeployments(chain.deploymentsFile)), wallets: requested };
    const handler = dexaProviderSummaryHandler(deps);
    const params = { chain_id: 8453, wallet_address: wallet } as const;
    const [row] = (await rowsOf(dexaProviderSummary, handler, params)) as [Row];
    const { v2Tables } = deps;
    const memory = new WalletMemory({ leastPositions: 0 });
    if (!followers.has(ingest)) followers.set(ingest, { v2Tables, memory });
    const follower = followers.get(ingest) as Follower;
    const followed = { ...deps, v2Tables: follower.v2Tables };
    const fromTable = dexaProviderSummaryHandler(followed, { fewPositions: -1, memory: follower.memory });
    expect(await rowsOf(dexaProviderSummary, fromTable, params), "from the table").to.deep.equal([row]);
    const { version } = await handler(params, testContext());
    await requested.flush();
    return { row, knownFrom: version?.positionsFromBlock };
  }

  async function readQueued({ store, source }: TestIngest): Promise<void> {
    const stop = new AbortController();
    await readRequestedWallets({
      ...{ store, source, guard: () => [], signal: stop.signal },
      budget: new ReadBudget(Number.MAX_SAFE_INTEGER),
      // It pauses where the queue is empty, or after ten wallets.
      pause: async () => {
        if ((await store.count(walletRequests, {})) === 0) stop.abort();
      },
    });
  }

  /** Pools without an event since the index began, which a running ingest reads in the background. */
  async function readInactive({ store, source }: TestIngest, fromBlock: number): Promise<void> {
    const { signal } = new AbortController();
    const options = { perSecond: 1_000, guard: () => [], signal, pause: async () => {} };
    await readInactivePools({ store, source, fromBlock, ...options });
  }

  /** Prices depend on the first indexed block, where pools have not traded since. */
  async function takePricesOfFull(late: TestIngest): Promise<void> {
    const { store } = late;
    // It has other prices in memory.
    followers.delete(late);
    const links = await full.store.find(priceLinks, {});
    await store.write([removeWhere(priceLinks, { chainId: 8453 }), put(priceLinks, links)]);
  }

  async function expectSameAmounts(late: TestIngest, startBlock: number): Promise<void> {
    for (const wallet of wallets) {
      const { row: expected } = await summaryOf(full, wallet);
      const { row, knownFrom } = await summaryOf(late, wallet);
      expect(knownFrom, wallet).to.equal(startBlock);
      for (const name of ["activePositionCount", "poolCount", "updatedAt"])
        expect(row[name], `${name} of ${wallet}`).to.equal(expected[name]);
      expectNear(amountsOf(row), amountsOf(expected), `amounts of ${wallet}`);
    }
  }

  /** At the same prices. */
  async function expectSameUsd(late: TestIngest, startBlock: number): Promise<void> {
    const { timestamp: head } = await chain.header(await chain.headNumber());
    const { timestamp: indexedFrom } = await chain.header(startBlock);
    const midnight = head - (head % DAY);
    const names = ["totalValueLockedUsd", "concentrationIndex", "topPoolsData", "tokenExposure"];
    for (const wallet of wallets) {
      const { row: expected } = await summaryOf(full, wallet);
      const { row } = await summaryOf(late, wallet);
      for (const days of [7, 30]) {
        const name = `totalFeesEarned${days}d`;
        const isCovered = midnight - days * DAY >= indexedFrom;
        expectNear(row[name], isCovered ? expected[name] : null, `${name} of ${wallet}`);
      }
      for (const name of names) expectNear(row[name], expected[name], `${name} of ${wallet}`);
    }
  }

  for (const from of [4, 25, 80]) {
    it(`knows what requested wallets had before block ${from} of a life of trading`, async () => {
      const head = await chain.headNumber();
      const startBlock = head - 102 + from;
      const late = await startTestIngest(chain, { startBlock });
      try {
        await late.catchUp();
        let unequal = 0;
        for (const wallet of wallets) {
          const { row, knownFrom } = await summaryOf(late, wallet);
          expect(knownFrom).to.equal(undefined);
          expect([row.totalValueLockedUsd, row.totalFeesEarned7d]).to.deep.equal([null, null]);
          const { row: expected } = await summaryOf(full, wallet);
          if (row.activePositionCount !== expected.activePositionCount) unequal += 1;
        }
        expect(unequal, "events alone know all").to.be.greaterThan(2);
        await readQueued(late);
        expect(await late.store.count(knownWallets, {})).to.equal(wallets.length);
        await readInactive(late, startBlock);
        await takePricesOfFull(late);
        await expectSameAmounts(late, startBlock);
        await expectSameUsd(late, startBlock);
      } finally {
        await late.close();
      }
    });
  }

  describeOnEngines(
    (engine) => `after reorgs, ${engine}`,
    {},
    (engine) => {
      it("still knows positions whose first events were taken back", async () => {
        const { store, remove } = await engine.open();
        const startBlock = (await chain.headNumber()) - 3;
        const late = await startTestIngest(chain, { startBlock, store });
        try {
          await late.catchUp();
          // Some of the wallets before their events, the others after them.
          for (const wallet of wallets.filter((_, i) => i % 2 === 0)) await summaryOf(late, wallet);
          await readQueued(late);
          let lost = 0;
          for (const depth of [3, 5]) {
            const { providers, pools } = chain.aerodrome;
            const [from, pool] = [providers[0] as Address, pools[1]?.address as Address];
            for (const to of silent) await chain.aerodrome.transferLp(pool, { from, to, amount: 7n });
            await mineAerodromeBlocks(chain, { blocks: depth, seed: 40 + depth });
            await late.catchUp();
            for (const wallet of wallets) await summaryOf(late, wallet);
            await readQueued(late);
            const known = await store.find(lpAnchors, {});
            const indexed = await store.count(lpPositions, {});
            await chain.reorg(depth, { transactions: [] });
            await late.catchUp();
            await full.catchUp();
            lost += indexed - (await store.count(lpPositions, {}));
            expect(await store.find(lpAnchors, {}), "facts about the block before the index").to.deep.equal(
              known,
            );
            await readInactive(late, startBlock);
            await expectSameAmounts(late, startBlock);
          }
          expect(lost, "positions whose first event was taken back").to.be.greaterThan(3);
        } finally {
          await late.close();
          await remove();
        }
      });
    },
  );
});

/** LP tokens, held and staked, of wallets that never do anything with them. */
async function giveToSilentWallets({ aerodrome, mine }: TestChain): Promise<Address[]> {
  const from = aerodrome.providers[0] as Address;
  const silent = [0x51, 0x52, 0x53, 0x54].map(address);
  for (const [i, to] of silent.entries()) {
    for (const { address: pool, gauge } of aerodrome.pools.slice(i % 2)) {
      const amount = (await aerodrome.lpBalance(pool, from)) / 50n;
      await aerodrome.transferLp(pool, { from, to, amount });
      if (gauge !== undefined) await aerodrome.stake(gauge, { amount: amount / 3n, recipient: to, from });
    }
  }
  await mine(1, { intervalS: 2 });
  return silent;
}

/** By token: what the wallet is entitled to. */
function amountsOf({ tokenExposure }: Row): unknown[] {
  return (tokenExposure as Cell[][]).map(([token, , amount]) => [token, amount]).sort();
}

/** Numbers within a millionth, also inside of rows; everything else equal. */
function expectNear(actual: unknown, expected: unknown, title: string): void {
  if (Array.isArray(expected) && Array.isArray(actual)) {
    expect(actual, title).to.have.length(expected.length);
    for (const [i, each] of expected.entries()) expectNear(actual[i], each, `${title}[${i}]`);
  } else if (typeof expected === "number")
    expect(actual, title).to.be.closeTo(expected, Math.max(Math.abs(expected) * NEAR, 1e-6));
  else expect(actual, title).to.equal(expected);
}
