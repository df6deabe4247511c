import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Store } from "../../../shared/storage/port.ts";
import type { AccountsAt, Commitment } from "../../chain/port.ts";
import { metadataAddress, TOKEN_PROGRAM } from "../../chain/program-address.ts";
import { fakeKey } from "../../chain/testkit/fake-chain.ts";
import type { DecodedTransaction } from "../../decode/model.ts";
import { tokenFragments, tokens } from "../../store/token-collections.ts";
import { FakeCluster } from "../../test/fake-cluster.ts";
import { openTestStore } from "../../test/store.ts";
import { openCheckpoint } from "../start-slot.ts";
import { SolanaSync } from "../sync.ts";
import { TokenReader } from "./token-reader.ts";

const START = 1_700_000_000;
const [A, B] = [fakeKey(1, 1), fakeKey(1, 2)] as [string, string];

function supply(kind: "mint" | "burn", mint: string, amount: bigint): DecodedTransaction {
  return {
    transactionIndex: 0,
    signature: "",
    feePayer: "p",
    balances: [],
    disagreements: [],
    events: [
      { kind, instructionIndex: 0, leg: 0, mint, amount, decimals: 6, accountCount: 3, authority: null },
    ],
  };
}

/** 82 bytes of a mint with this supply. */
function mintAccount(amount: bigint) {
  const data = new Uint8Array(82);
  new DataView(data.buffer).setBigUint64(36, amount, true);
  data[44] = 6;
  data[45] = 1;
  return { owner: TOKEN_PROGRAM, data };
}

describe("TokenReader", () => {
  let cluster: FakeCluster;
  let store: Store;
  let keeper: TokenReader;
  let sync: SolanaSync;
  let supplies: Map<string, bigint>;
  let requested: { addresses: readonly string[]; commitment: Commitment }[];
  /** The slot that the node reports; undefined = the last final one. */
  let nodeSlot: number | undefined;
  let failing: Error | undefined;

  beforeEach(async () => {
    cluster = new FakeCluster();
    cluster.produce({ blockTime: START, transactions: [] });
    cluster.finalize(0);
    store = await openTestStore();
    supplies = new Map();
    requested = [];
    nodeSlot = undefined;
    failing = undefined;
    keeper = new TokenReader({
      store,
      log: () => {},
      source: {
        async accounts(addresses, commitment): Promise<AccountsAt> {
          if (failing !== undefined) throw failing;
          requested.push({ addresses, commitment });
          const accounts = addresses.map((address) => {
            const amount = supplies.get(address);
            return amount === undefined ? null : mintAccount(amount);
          });
          return { slot: nodeSlot ?? cluster.finalSlot, accounts };
        },
      },
    });
    const { source, reader } = cluster;
    let ms = 0;
    sync = await SolanaSync.open(
      {
        ...{ store, source, reader, hooks: [keeper], signal: new AbortController().signal },
        ...{ log: () => {}, report: () => {}, guard: () => [], now: () => (ms += 10_000) },
      },
      await openCheckpoint(store, { source, reader, startSlot: 0 }),
    );
  });
  afterEach(() => store.close());

  /** One more block, indexed; final at once unless `behind` is given. */
  async function produce(
    transactions: DecodedTransaction[] = [],
    options: { behind?: number; described?: string[] } = {},
  ) {
    cluster.produce({ blockTime: START, transactions, described: options.described ?? [] });
    cluster.finalize(options.behind ?? 0);
    while (await sync.step());
  }

  const token = (mint: string) => store.get(tokens, { mint });

  it("reads a token once, with its metadata account, and stores it with the next block", async () => {
    supplies.set(A, 500n);
    await produce([supply("mint", A, 500n)]);
    expect(await keeper.readOnce()).to.equal(true);
    expect(requested).to.deep.equal([{ addresses: [A, metadataAddress(A)], commitment: "finalized" }]);
    expect((await token(A))?.readSlot).to.equal(null);
    await produce();
    expect(await token(A)).to.include({ supply: 500n, readSlot: 101, symbol: "", mutableMetadata: false });
    // It has no metadata, and that is known now.
    expect(await keeper.readOnce()).to.equal(false);
    expect(requested).to.have.length(1);
    expect(await store.count(tokenFragments, {})).to.equal(0);
  });

  it("reads only what is final, and rejects a node that is behind", async () => {
    supplies.set(A, 500n);
    await produce([supply("mint", A, 500n)], { behind: 1 });
    expect(await keeper.readOnce()).to.equal(false);
    await produce();
    nodeSlot = 100;
    expect(await keeper.readOnce()).to.equal(true);
    await produce();
    expect((await token(A))?.readSlot).to.equal(null);
    nodeSlot = undefined;
    await keeper.readOnce();
    await produce();
    expect((await token(A))?.readSlot).to.equal(103);
  });

  it("adds the mints and burns that are indexed already, and those to come, each once", async () => {
    supplies.set(A, 1_000n);
    await produce([supply("mint", A, 1_000n)]);
    const readAt = cluster.finalSlot;
    // Two more blocks are indexed while the node still responds as of the first.
    await produce([supply("mint", A, 70n)], { behind: 1 });
    await produce([supply("burn", A, 20n)], { behind: 2 });
    nodeSlot = readAt;
    await keeper.readOnce();
    await produce([supply("mint", A, 5n)], { behind: 3 });
    expect(await token(A)).to.include({ supply: 1_055n, readSlot: readAt });
    // One that was read ahead of the index has the mints up to there.
    nodeSlot = 110;
    supplies.set(B, 9_000n);
    await produce([supply("mint", B, 1_000n)]);
    await keeper.readOnce();
    while (cluster.headSlot < 109) await produce();
    await produce([supply("mint", B, 8_000n)]);
    expect(await token(B)).to.include({ supply: 9_000n, readSlot: 110 });
    await produce([supply("mint", B, 1n)]);
    expect(await token(B)).to.include({ supply: 9_001n });
  });

  it("reads a token again after an instruction that may have changed it is final, and only then", async () => {
    supplies.set(A, 500n);
    await produce([supply("mint", A, 500n)]);
    await keeper.readOnce();
    await produce();
    await produce([], { described: [A, fakeKey(9, 9)], behind: 1 });
    expect(await keeper.readOnce()).to.equal(false);
    await produce();
    expect(await keeper.readOnce()).to.equal(true);
    expect(requested.slice(1).map(({ addresses }) => addresses)).to.deep.equal([
      [A, fakeKey(9, 9)],
      [A, metadataAddress(A)],
    ]);
    await produce();
    expect(await token(A)).to.include({ readSlot: 104 });
    expect(await keeper.readOnce()).to.equal(false);
  });

  it("reads a token again when it moves a day later", async () => {
    supplies.set(A, 500n);
    await produce([supply("mint", A, 500n)]);
    await keeper.readOnce();
    await produce();
    const DAY = 216_000;
    cluster.produce({ skipped: DAY, blockTime: START + 86_400, transactions: [] });
    cluster.finalize(0);
    await produce();
    expect(await keeper.readOnce()).to.equal(false);
    await produce([supply("burn", A, 1n)]);
    expect(await keeper.readOnce()).to.equal(true);
    await produce();
    expect((await token(A))?.readSlot).to.be.greaterThan(DAY);
  });

  it("reads it again when the result was rolled back with its block, and after a failure", async () => {
    supplies.set(A, 500n);
    await produce([supply("mint", A, 500n)]);
    await keeper.readOnce();
    cluster.produce({ blockTime: START, transactions: [] });
    while (await sync.step());
    expect((await token(A))?.readSlot).to.equal(101);
    cluster.fork(1);
    cluster.produce({ blockTime: START, transactions: [] });
    cluster.produce({ blockTime: START, transactions: [] });
    await sync.step().catch(() => sync.handleReorg());
    while (await sync.step());
    expect((await token(A))?.readSlot).to.equal(null);
    failing = new Error("no endpoint answers");
    const failed = await keeper.readOnce().catch((error: unknown) => error);
    expect(failed).to.equal(failing);
    failing = undefined;
    expect(await keeper.readOnce()).to.equal(true);
    await produce();
    expect((await token(A))?.readSlot).to.equal(101);
  });

  it("requests many tokens at once, and no more than can be written", async () => {
    const many = Array.from({ length: 330 }, (_, i) => fakeKey(3, i));
    await produce(many.map((mint) => supply("mint", mint, 1n)));
    let reads = 0;
    while (await keeper.readOnce()) reads += 1;
    expect(reads).to.equal(4);
    expect(requested.every(({ addresses }) => addresses.length === 100)).to.equal(true);
    await produce();
    while (await keeper.readOnce()) reads += 1;
    expect(reads).to.equal(7);
    await produce();
    expect(await store.count(tokens, { readSlot: null })).to.equal(0);
  });
});
