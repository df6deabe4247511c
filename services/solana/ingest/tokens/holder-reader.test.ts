import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { decodeBase58 } from "../../../shared/contract/base58.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { AccountsAt } from "../../chain/port.ts";
import { TOKEN_PROGRAM } from "../../chain/program-address.ts";
import { fakeKey } from "../../chain/testkit/fake-chain.ts";
import type { DecodedTransaction } from "../../decode/model.ts";
import { holders, tokens } from "../../store/collections.ts";
import { FakeCluster } from "../../test/fake-cluster.ts";
import { openTestStore } from "../../test/store.ts";
import { openCheckpoint } from "../start-slot.ts";
import { SolanaSync } from "../sync.ts";
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

describe("HolderReader", () => {
  let cluster: FakeCluster;
  let store: Store;
  let keeper: HolderReader;
  let sync: SolanaSync;
  let nowMs: number;
  let largestOf: string[];
  let accountsOf: Record<string, { owner: string; amount: bigint }> | undefined;
  let nodeSlot: number | undefined;

  beforeEach(async () => {
    cluster = new FakeCluster();
    cluster.produce({ blockTime: START, transactions: [] });
    cluster.finalize(0);
    store = await openTestStore();
    nowMs = 0;
    largestOf = [];
    accountsOf = { "whale's": { owner: WHALE, amount: 900n }, "trader's": { owner: TRADER, amount: 50n } };
    nodeSlot = undefined;
    keeper = new HolderReader({
      store,
      leastRows: 3,
      now: () => nowMs,
      log: () => {},
      source: {
        async largestTokenAccounts(mint) {
          largestOf.push(mint);
          if (accountsOf === undefined) return undefined;
          return Object.entries(accountsOf).map(([address, { amount }]) => ({ address, amount }));
        },
        async accounts(addresses): Promise<AccountsAt> {
          const mint = largestOf.at(-1) as string;
          const accounts = addresses.map((address) => {
            const held = accountsOf?.[address];
            return held === undefined ? null : tokenAccount(mint, held);
          });
          return { slot: nodeSlot ?? cluster.headSlot, accounts };
        },
      },
    });
    const { source, reader } = cluster;
    sync = await SolanaSync.open(
      {
        ...{ store, source, reader, hooks: [keeper], signal: new AbortController().signal },
        ...{ log: () => {}, report: () => {}, guard: () => [] },
      },
      await openCheckpoint(store, { source, reader, startSlot: 0 }),
    );
  });
  afterEach(() => store.close());

  async function produce(...transactions: DecodedTransaction[]): Promise<void> {
    cluster.produce({ blockTime: START, transactions });
    while (await sync.step());
  }

  const balances = async () =>
    (await store.find(holders, { filter: { mint: A } })).map(({ owner, balance }) => [owner, balance]);
  const mark = async (mint: string) => (await store.get(tokens, { mint }))?.holdersSlot;

  it("stores the largest accounts of the busiest token once the index has reached the slot of their reading", async () => {
    await produce(sale(80n), sale(70n));
    await keeper.readOnce();
    expect(largestOf).to.deep.equal([]);
    await produce(sale(60n));
    // A and B have three rows each, A met first; the node is two slots ahead.
    nodeSlot = cluster.headSlot + 2;
    await keeper.readOnce();
    await keeper.readOnce();
    expect(largestOf).to.deep.equal([A]);
    await produce(sale(55n));
    await produce(sale(50n));
    expect(await balances()).to.deep.equal([[TRADER, 50n]]);
    await produce(sale(45n));
    expect(await balances()).to.have.deep.members([
      [WHALE, 900n],
      [TRADER, 45n],
    ]);
    expect(await mark(A)).to.equal(nodeSlot);
    expect((await store.get(tokens, { mint: A }))?.holderCount).to.equal(2);
  });

  it("reads each token once, also by another process", async () => {
    await produce(sale(1n), sale(2n), sale(3n));
    await keeper.readOnce();
    await produce();
    await keeper.readOnce();
    await produce();
    expect([...largestOf].sort()).to.deep.equal([A, B].sort());
    nowMs += 10_000_000;
    await keeper.readOnce();
    expect(largestOf).to.have.length(2);
    expect(await mark(B)).to.be.a("number");
  });

  it("discards what the index has passed, and reads it again", async () => {
    await produce(sale(1n), sale(2n), sale(3n));
    nodeSlot = cluster.headSlot - 1;
    await keeper.readOnce();
    await produce();
    expect(await balances()).to.deep.equal([[TRADER, 3n]]);
    nodeSlot = undefined;
    await keeper.readOnce();
    await produce();
    expect(await balances()).to.have.length(2);
    expect(largestOf).to.deep.equal([A, A]);
  });

  it("skips a token for an hour when no node returns its accounts", async () => {
    accountsOf = undefined;
    await produce(sale(1n), sale(2n), sale(3n));
    for (let i = 0; i < 5; i++) await keeper.readOnce();
    expect([...largestOf].sort()).to.deep.equal([A, B].sort());
    nowMs += 3_600_001;
    await keeper.readOnce();
    expect(largestOf).to.have.length(3);
    expect(await mark(A)).to.equal(null);
  });

  it("discards what it read when slots are rolled back", async () => {
    await produce(sale(1n), sale(2n), sale(3n));
    await keeper.readOnce();
    cluster.fork(1);
    cluster.produce({ blockTime: START, transactions: [sale(9n)] });
    cluster.produce({ blockTime: START, transactions: [] });
    await sync.step().catch(() => sync.handleReorg());
    while (await sync.step());
    expect(await balances()).to.deep.equal([[TRADER, 9n]]);
    await keeper.readOnce();
    await produce();
    expect(await mark(A)).to.be.a("number");
  });
});
