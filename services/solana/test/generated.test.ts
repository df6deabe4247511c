import { expect } from "chai";
import { after, before, it } from "mocha";
import type { MadeBlock } from "../../../deploy/devnet/solana/generator.ts";
import { createTestSolana, type TestSolana } from "../../../deploy/devnet/solana/testkit.ts";
import type { Collection } from "../../shared/storage/collection.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { TokenReader } from "../ingest/tokens/token-reader.ts";
import { bucketOf, changeCounts } from "../metrics/balance-buckets.ts";
import type { MintExtensions } from "../metrics/mint-extensions.ts";
import { poolRows, supplyRows, tokenRows } from "../store/collections.ts";
import { holders, tokens } from "../store/token-collections.ts";
import {
  type ExpectedBlock,
  expectHolders,
  expectPoolRows,
  expectSupplyRows,
  expectTokenRows,
  inOrder,
} from "./expected/expected-rows.ts";
import { startTestIngest, type TestIngest } from "./harness.ts";

describeWithChain("Solana ingest of generated blocks", () => {
  let solana: TestSolana;
  let ingest: TestIngest;
  let blocks: ExpectedBlock[];

  before(async () => {
    solana = await createTestSolana({ seed: 3 });
    const made: MadeBlock[] = solana.produce(260);
    blocks = made.map(({ slot, blockTime, expected }) => ({ slot, time: blockTime, transactions: expected }));
    let keeper: TokenReader | undefined;
    ingest = await startTestIngest(solana, {
      hooks({ store, source }) {
        keeper = new TokenReader({ store, source, log: () => {} });
        return [keeper];
      },
    });
    await ingest.catchUp();
    // Tokens are read until none is left; what was read is written with the blocks that come next.
    for (let i = 0; i < 60; i++) {
      const hasRead = await keeper?.readOnce();
      const [next] = solana.produce(1);
      if (next !== undefined)
        blocks.push({ slot: next.slot, time: next.blockTime, transactions: next.expected });
      await ingest.catchUp();
      if (!hasRead && i > 40) break;
    }
  });
  after(async () => {
    await ingest?.close();
    await solana?.stop();
  });

  /** Rows as they are stored, without the fields that the generator does not know. */
  async function stored(collection: Collection, omitted: readonly string[]) {
    const rows = await ingest.store.find(collection, {});
    return rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => !omitted.includes(name))),
    );
  }

  it("has every trade and change of liquidity in the lists of its tokens", async () => {
    const found = await stored(tokenRows, ["valueUsd", "priceUsd"]);
    expect(found.length).to.be.greaterThan(4_000);
    expect(found).to.deep.equal(inOrder(expectTokenRows(blocks), tokenRows.key));
  });

  it("and of its pool", async () => {
    const found = await stored(poolRows, ["valueUsd", "priceInUsd", "priceOutUsd"]);
    expect(found).to.deep.equal(inOrder(expectPoolRows(blocks), poolRows.key));
  });

  it("has every mint and burn", async () => {
    const found = await stored(supplyRows, []);
    expect(found.length).to.be.greaterThan(50);
    expect(found).to.deep.equal(inOrder(expectSupplyRows(blocks), supplyRows.key));
  });

  it("knows what wallets hold, to the raw unit, and how many do", async () => {
    const found = await ingest.store.find(holders, {});
    const known = await ingest.store.find(tokens, {});
    const mintOf = new Map(known.map(({ number, mint }) => [number, mint]));
    expect(mintOf.size).to.equal(known.length);
    const balances = new Map(
      found.map(({ token, owner, balance }) => [`${mintOf.get(token)} ${owner}`, balance]),
    );
    expect(balances).to.deep.equal(expectHolders(blocks));
    for (const { number, holderCount, held, balanceCounts } of known) {
      const own = found.filter(({ token }) => token === number).map(({ balance }) => balance);
      expect(holderCount).to.equal(own.length);
      expect(held).to.equal(own.reduce((sum, balance) => sum + balance, 0n));
      const counts = new Map<number, number>();
      for (const balance of own) counts.set(bucketOf(balance), (counts.get(bucketOf(balance)) ?? 0) + 1);
      expect(balanceCounts).to.deep.equal(changeCounts([], counts));
    }
  });

  it("knows what mints contain, with the mints and burns since they were read", async () => {
    const { ledger } = solana.chain.generator;
    const all = await ingest.store.find(tokens, {});
    const read = all.filter(({ readSlot }) => readSlot !== null);
    const { finalizedSlot } = ingest.checkpoint();
    for (const { readSlot, foundSlot } of all)
      if (readSlot === null) expect(foundSlot).to.be.greaterThan(finalizedSlot - 4);
    expect(read.length).to.be.greaterThan(15);
    for (const token of read) {
      // Of a position that was closed nothing is left but that it was.
      const mint = ledger.mints.get(token.mint);
      expect(token.supply, token.mint).to.equal(mint?.supply ?? 0n);
      if (mint === undefined) continue;
      expect([token.decimals, token.mintAuthority, token.freezeAuthority]).to.deep.equal([
        mint.decimals,
        mint.mintAuthority,
        mint.freezeAuthority,
      ]);
      const { transferFee } = token.extensions as MintExtensions;
      expect(transferFee?.newerBps ?? 0).to.equal(mint.transferFee?.bps ?? 0);
    }
    const named = new Map(read.map(({ symbol, ...row }) => [symbol, row]));
    expect(named.get("USDC")).to.deep.include({
      name: "USD Coin",
      isToken2022: false,
      mutableMetadata: true,
    });
    expect(named.get("SOL")).to.deep.include({ name: "Wrapped SOL", mutableMetadata: false });
    expect(named.get("TOLL")).to.deep.include({ name: "Toll Road", isToken2022: true });
  });
});
