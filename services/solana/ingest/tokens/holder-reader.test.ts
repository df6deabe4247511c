import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { decodeBase58 } from "../../../shared/contract/base58.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import type { AccountsAt, TokenAccountPage } from "../../chain/port.ts";
import { TOKEN_PROGRAM } from "../../chain/program-address.ts";
import { fakeKey } from "../../chain/testkit/fake-chain.ts";
import type { DecodedTransaction } from "../../decode/model.ts";
import { holderRequests, holders, type TokenRow, tokens } from "../../store/token-collections.ts";
import { FakeCluster } from "../../test/fake-cluster.ts";
import { openTestStore } from "../../test/store.ts";
import { openCheckpoint } from "../start-slot.ts";
import type { TokenDescription } from "../state/token-state.ts";
import { SolanaSync, type SyncHooks } from "../sync.ts";
import { HolderReader } from "./holder-reader.ts";

const START = 1_700_000_000;
const [A, B, WHALE, TRADER] = [1, 2, 3, 4].map((number) => fakeKey(1, number)) as [
  string,
  string,
  string,
  string,
];

/** A sale of A for B, by a trader whose account holds so much of A afterwards. */
function sale(after: bigint): DecodedTransaction {
  const token = { mint: A, owner: TRADER, decimals: 6, isToken2022: false };
  return {
    transactionIndex: 0,
    signature: "",
    feePayer: TRADER,
    disagreements: [],
    balances: [{ ...token, tokenAccount: "trader's", before: 0n, after }],
    events: [
      {
        ...{ kind: "trade", instructionIndex: 0, leg: 0, dex: "orca", program: "orca-whirlpool", pool: "p" },
        ...{ account: TRADER, tokenIn: A, amountIn: 5_000n, decimalsIn: 6 },
        ...{ tokenOut: B, amountOut: 7_000n, decimalsOut: 6, reserveIn: null, reserveOut: null },
      },
    ],
  } as DecodedTransaction;
}

function tokenAccount(mint: string, { owner, amount }: { owner: string; amount: bigint }) {
  const data = new Uint8Array(165);
  data.set(decodeBase58(mint) ?? [], 0);
  data.set(decodeBase58(owner) ?? [], 32);
  new DataView(data.buffer).setBigUint64(64, amount, true);
  data[108] = 1;
  return { owner: TOKEN_PROGRAM, data };
}

type Accounts = Record<string, { owner: string; amount: bigint }>;

describe("HolderReader", () => {
  let cluster: FakeCluster;
  let store: Store;
  let reader: HolderReader;
  let sync: SolanaSync;
  let nowMs: number;
  let asked: string[];
  /** What nodes have; undefined of a method that none offers. */
  let accountsOf: Accounts | undefined;
  let largestOf: Accounts | undefined;
  let nodeSlot: number | undefined;
  let accountsAPage: number;
  let finalHeadMs = 0;

  beforeEach(async () => {
    cluster = new FakeCluster();
    cluster.produce({ blockTime: START, transactions: [] });
    cluster.finalize(0);
    store = await openTestStore();
    nowMs = 0;
    asked = [];
    accountsOf = { "whale's": { owner: WHALE, amount: 900n }, "trader's": { owner: TRADER, amount: 50n } };
    largestOf = undefined;
    nodeSlot = undefined;
    accountsAPage = 10;
    reader = new HolderReader({
      store,
      guard: () => [],
      leastRows: 3,
      now: () => nowMs,
      log: () => {},
      source: {
        async tokenAccounts(mint, { after, minSlot }): Promise<TokenAccountPage | undefined> {
          asked.push(mint);
          expect(minSlot).to.be.at.most(cluster.finalSlot);
          if (accountsOf === undefined) return undefined;
          const all = Object.entries(accountsOf).map(([address, held]) => ({ address, ...held }));
          const from = Number(after ?? 0);
          const next = from + accountsAPage < all.length ? `${from + accountsAPage}` : null;
          const slot = nodeSlot ?? cluster.finalSlot;
          return { slot, accounts: all.slice(from, from + accountsAPage), next };
        },
        async largestTokenAccounts() {
          if (largestOf === undefined) return undefined;
          return Object.entries(largestOf).map(([address, { amount }]) => ({ address, amount }));
        },
        async accounts(addresses): Promise<AccountsAt> {
          const accounts = addresses.map((address) => {
            const held = largestOf?.[address];
            return held === undefined ? null : tokenAccount(asked.at(-1) as string, held);
          });
          return { slot: nodeSlot ?? cluster.finalSlot, accounts };
        },
      },
    });
    await openSync();
  });
  afterEach(() => store.close());

  async function openSync(): Promise<void> {
    const { source } = cluster;
    sync = await SolanaSync.open(
      {
        ...{ store, source, reader: cluster.reader, signal: new AbortController().signal },
        hooks: [SUPPLIES, reader],
        // The final head is read with every block.
        now: () => (finalHeadMs += 5_000),
        ...{ log: () => {}, report: () => {}, guard: () => [] },
      },
      await openCheckpoint(store, { source, reader: cluster.reader, startSlot: 0 }),
    );
  }

  /** A block, all but the last of which are final. */
  async function produce(...transactions: DecodedTransaction[]): Promise<void> {
    cluster.produce({ blockTime: START, transactions });
    while (await sync.step());
  }

  /** Sales that make a token busy, all of them final, and its mint read. */
  async function beginWith(...amounts: bigint[]): Promise<void> {
    await produce(...amounts.map(sale));
    await produce();
    cluster.finalize(0);
    await produce();
  }

  /** Blocks and steps of the reader, until what it reads is stored and final. */
  async function readAll(): Promise<void> {
    for (let i = 0; i < 8; i++) {
      await reader.readOnce();
      await produce();
      cluster.finalize(0);
      nowMs += 5_000;
    }
  }

  const tokenOf = async (mint: string) => (await store.get(tokens, { mint })) as TokenRow;
  const balances = async () => {
    const { number: token } = await tokenOf(A);
    const rows = await store.find(holders, { filter: { token } });
    return new Map(rows.map(({ owner, balance }) => [owner, balance]));
  };

  it("completes the busiest token, and what moved since it began counts", async () => {
    await beginWith(80n, 70n);
    await reader.readOnce();
    await produce();
    expect(asked).to.deep.equal([]);
    await produce(sale(60n));
    await reader.readOnce();
    // Not before the slot is final that it began at: nodes are asked for final slots.
    await reader.readOnce();
    expect(asked).to.deep.equal([]);
    cluster.finalize(0);
    await produce(sale(55n));
    await reader.readOnce();
    expect(asked).to.deep.equal([A]);
    expect([...(await balances())]).to.deep.equal([[TRADER, 55n]]);
    await produce(sale(45n));
    expect(await balances()).to.deep.equal(
      new Map([
        [WHALE, 900n],
        [TRADER, 45n],
      ]),
    );
    const token = await tokenOf(A);
    expect([token.holderCount, token.held]).to.deep.equal([2, 945n]);
    expect(token.wholeSlot).to.be.a("number");
  });

  it("waits for the slot of what was read, and adds page by page", async () => {
    accountsAPage = 1;
    await beginWith(1n, 2n, 3n);
    cluster.finalize(0);
    await reader.readOnce();
    await produce();
    nodeSlot = cluster.headSlot + 2;
    await reader.readOnce();
    await produce();
    await produce();
    expect((await balances()).size).to.equal(1);
    await produce();
    expect((await balances()).get(WHALE)).to.equal(900n);
    expect((await tokenOf(A)).wholeSlot).to.equal(null);
    cluster.finalize(0);
    nodeSlot = undefined;
    await readAll();
    // The trader's account has moved within the index, before the import began: the node is right too.
    expect(await balances()).to.deep.equal(
      new Map([
        [WHALE, 900n],
        [TRADER, 50n],
      ]),
    );
    expect((await tokenOf(A)).wholeSlot).to.be.a("number");
  });

  it("reads a token that was asked for first, however quiet, and removes the request", async () => {
    await beginWith(3n);
    await store.write([
      put(holderRequests, [
        { mint: B, time: 5 },
        { mint: A, time: 9 },
        { mint: WHALE, time: 1 },
      ]),
    ]);
    cluster.finalize(0);
    await readAll();
    expect(asked[0]).to.equal(B);
    await readAll();
    expect(asked).to.deep.equal([B, A]);
    expect(await store.find(holderRequests, {})).to.deep.equal([]);
    await readAll();
    expect(asked).to.have.length(2);
  });

  it("reads the largest accounts where no node offers all, which is not the whole", async () => {
    accountsOf = undefined;
    largestOf = { "whale's": { owner: WHALE, amount: 900n } };
    await beginWith(1n, 2n, 3n);
    await readAll();
    expect((await balances()).get(WHALE)).to.equal(900n);
    const token = await tokenOf(A);
    expect(token.wholeSlot).to.equal(null);
    expect(token.holdersSlot).to.be.a("number");
  });

  it("skips a token for an hour when no node returns its accounts", async () => {
    accountsOf = undefined;
    await beginWith(1n, 2n, 3n);
    await readAll();
    await readAll();
    expect([...asked].sort()).to.deep.equal([A, B].sort());
    nowMs += 3_600_001;
    await readAll();
    expect(asked).to.have.length.above(2);
    expect((await tokenOf(A)).holdersSlot).to.equal(null);
  });

  it("asks again where a node is behind the slot that it was asked for", async () => {
    await beginWith(1n, 2n, 3n);
    nodeSlot = 1;
    cluster.finalize(0);
    await reader.readOnce();
    await produce();
    await reader.readOnce();
    await produce();
    expect((await balances()).size).to.equal(1);
    nodeSlot = undefined;
    nowMs += 3_600_001;
    await readAll();
    await readAll();
    expect((await balances()).get(WHALE)).to.equal(900n);
  });

  it("adds again what was rolled back, also what had moved in blocks that were dropped", async () => {
    await beginWith(1n, 2n, 3n);
    cluster.finalize(0);
    await reader.readOnce();
    // Moves after the import began, and is dropped again.
    await produce(sale(77n));
    await reader.readOnce();
    await produce();
    expect(await balances()).to.deep.equal(
      new Map([
        [WHALE, 900n],
        [TRADER, 77n],
      ]),
    );
    expect((await tokenOf(A)).wholeSlot).to.be.a("number");
    cluster.fork(2);
    for (let i = 0; i < 3; i++) cluster.produce({ blockTime: START, transactions: [] });
    await sync.step().catch(() => sync.handleReorg());
    while (await sync.step());
    expect(await balances()).to.deep.equal(
      new Map([
        [WHALE, 900n],
        [TRADER, 50n],
      ]),
    );
    const token = await tokenOf(A);
    expect([token.held, token.holderCount]).to.deep.equal([950n, 2]);
    expect(token.wholeSlot).to.be.a("number");
    expect(asked).to.deep.equal([A]);
  });
});

/** Mints are read as soon as they are met. */
const SUPPLIES: SyncHooks = {
  async beforeBatch(indexer) {
    const description = (decimals: number): TokenDescription => ({
      ...{ symbol: "", name: "", decimals, supply: 1_000n, mintAuthority: null, freezeAuthority: null },
      ...{ isToken2022: false, extensions: {}, mutableMetadata: false, readSlot: 1 },
    });
    await indexer.tokens.describe(
      new Map([
        [A, description(6)],
        [B, description(6)],
      ]),
    );
  },
};
