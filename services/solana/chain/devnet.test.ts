import { expect } from "chai";
import { afterEach, it } from "mocha";
import type { MadeBlock } from "../../../deploy/devnet/solana/generator.ts";
import { PlainSocket } from "../../../deploy/devnet/solana/test/socket.ts";
import { createTestSolana, type TestSolana } from "../../../deploy/devnet/solana/testkit.ts";
import { encodeBase58 } from "../../shared/contract/base58.ts";
import { describeWithChain, itThorough } from "../../shared/testkit/describe.ts";
import { type Commitment, type SolanaBlock, SolanaUpstreamError } from "./port.ts";
import { METADATA_PROGRAM, metadataAddress, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "./program-address.ts";
import { scanBlocks } from "./scan.ts";
import { catchError } from "./testkit/fake-chain.ts";
import { isVoteTransaction } from "./validate-transaction.ts";

const FIRST = 300_000_001;
const QUICK = { options: { backoffMs: 5, behindTotalMs: 300, totalMs: 2_000 } };
const slotsOf = (blocks: readonly SolanaBlock[]) => blocks.map(({ slot }) => slot);

describeWithChain("createSolanaSource at a node", () => {
  let solana: TestSolana;
  afterEach(() => solana?.stop());

  it("reads the blocks that the chain produced, without votes, and none for skipped slots", async () => {
    solana = await createTestSolana({ skipped: 0.3, endpoints: 2 });
    const made = solana.produce(80);
    const source = solana.source(QUICK);
    const { slot: head } = await source.head("confirmed");
    expect(head).to.equal(made.at(-1)?.slot);
    const blocks = await source.blocks({ fromSlot: FIRST, toSlot: head, commitment: "confirmed" });
    expect(slotsOf(blocks)).to.deep.equal(made.map(({ slot }) => slot));
    for (const [i, block] of blocks.entries()) {
      const { raw } = made[i] as MadeBlock;
      // Votes are left out, and the others keep their place in the block.
      const transactions = (raw.transactions as object[])
        .map((each, transactionIndex) => ({ ...each, transactionIndex }))
        .filter((each) => !isVoteTransaction(each));
      expect(block.transactions).to.deep.equal(JSON.parse(JSON.stringify(transactions)));
      expect([block.blockhash, block.parentSlot, block.blockTime]).to.deep.equal([
        raw.blockhash,
        raw.parentSlot,
        raw.blockTime,
      ]);
    }
    const { slot: finalized } = await source.head("finalized");
    expect(finalized).to.be.at.most(head - 32);
    const final = await source.blocks({ fromSlot: FIRST, toSlot: finalized, commitment: "finalized" });
    expect(final).to.deep.equal(blocks.filter(({ slot }) => slot <= finalized));
    expect(await source.firstAvailableSlot()).to.equal(made[0]?.slot);
  });

  itThorough("scans long ranges in order, whatever single nodes hide, garble and refuse", async () => {
    solana = await createTestSolana({ skipped: 0.1, endpoints: 3, transactions: 4 });
    const made = solana.produce(300);
    const [a, b] = solana.servers;
    let calls = 0;
    for (const { slot } of made) {
      if (slot % 7 === 0) a?.faults.hidden.add(slot);
      if (slot % 11 === 0) b?.faults.hidden.add(slot);
    }
    if (a !== undefined) {
      a.faults.missingCode = null;
      a.faults.intercept = ({ method }) => {
        if (method !== "getBlock") return undefined;
        calls += 1;
        if (calls % 13 === 0) return { result: { blockhash: "nonsense" } };
        if (calls % 17 === 0) return "reset";
        return calls % 29 === 0 ? { status: 503, body: "<html>busy</html>" } : undefined;
      };
    }
    const source = solana.source({
      options: { ...QUICK.options, behindTotalMs: 3_000, openMs: 20, maxOpenMs: 50 },
    });
    const found: SolanaBlock[] = [];
    const toSlot = made.at(-1)?.slot ?? 0;
    for await (const part of scanBlocks(source, { fromSlot: FIRST, toSlot, commitment: "confirmed" }))
      found.push(...part.blocks);
    expect(slotsOf(found)).to.deep.equal(made.map(({ slot }) => slot));
  });

  it("fails with the reason while the only node hides a block, and reads it once it is there", async () => {
    solana = await createTestSolana({ skipped: 0 });
    solana.produce(20);
    const hidden = solana.servers[0]?.faults.hidden;
    const source = solana.source(QUICK);
    for (const code of [-32004, -32007, -32009, null] as const) {
      if (solana.servers[0] !== undefined) solana.servers[0].faults.missingCode = code;
      hidden?.add(FIRST + 5);
      const range = { fromSlot: FIRST, toSlot: FIRST + 10, commitment: "confirmed" } as const;
      const error = await catchError(source.blocks(range));
      expect(error).to.be.instanceOf(SolanaUpstreamError);
      expect(error.message).to.contain(
        `slot ${FIRST + 5} has no block, and slot ${FIRST + 6} names it as its parent`,
      );
      hidden?.delete(FIRST + 5);
      expect(await source.blocks(range)).to.have.length(11);
    }
  });

  it("reads the fork that won", async () => {
    solana = await createTestSolana({ skipped: 0.1 });
    solana.produce(40);
    const source = solana.source(QUICK);
    const range = async () =>
      ({ fromSlot: FIRST, toSlot: (await source.head("confirmed")).slot, commitment: "confirmed" }) as const;
    const before = await source.blocks(await range());
    solana.fork(10);
    const after = await source.blocks(await range());
    const same = before.filter((block, i) => block.blockhash === after[i]?.blockhash);
    expect(same.length).to.be.within(before.length - 10, before.length - 1);
    expect(after.at(-1)?.slot).to.be.greaterThan(before.at(-1)?.slot ?? 0);
    for (const [i, block] of after.entries())
      if (i > 0) expect(block.previousBlockhash).to.equal(after[i - 1]?.blockhash);
  });

  it("reads mints, their metadata and token accounts", async () => {
    solana = await createTestSolana();
    solana.produce(60);
    const source = solana.source(QUICK);
    const { market, ledger } = solana.chain.generator;
    const usdc = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
    const toll = market.pools.find(({ symbols }) => symbols[0] === "TOLL")?.mints[0] ?? "";
    const addresses = [usdc, toll, metadataAddress(usdc), metadataAddress(toll), market.wallets[0] ?? ""];
    const { slot, accounts: found } = await source.accounts(addresses, "confirmed");
    expect(slot).to.equal((await source.head("confirmed")).slot);
    const [mint, tolled, metadata, none, wallet] = found;
    expect(mint?.owner).to.equal(TOKEN_PROGRAM);
    expect(mint?.data).to.have.length(82);
    // Layout of a mint: authority (36), supply, decimals, initialized, freeze authority (36).
    expect(Buffer.from(mint?.data ?? []).readBigUInt64LE(36)).to.equal(ledger.mint(usdc).supply);
    expect([...(mint?.data.subarray(44, 46) ?? [])]).to.deep.equal([6, 1]);
    expect(tolled?.owner).to.equal(TOKEN_2022_PROGRAM);
    // Behind the padding: the kind of account, then extensions; 1 is the transfer fee, its newer rate is last.
    const data = Buffer.from(tolled?.data ?? []);
    expect([data[165], data.readUInt16LE(166), data.readUInt16LE(168)]).to.deep.equal([1, 1, 108]);
    expect([data.readUInt16LE(170 + 106), data.readBigUInt64LE(170 + 98)]).to.deep.equal([
      50,
      5_000_000_000n,
    ]);
    expect(data.toString("utf8")).to.contain("Toll Road").and.to.contain("TOLL");
    expect(metadata?.owner).to.equal(METADATA_PROGRAM);
    expect(encodeBase58(metadata?.data.subarray(33, 65) ?? new Uint8Array())).to.equal(usdc);
    expect(Buffer.from(metadata?.data ?? []).toString("utf8", 69, 69 + 8)).to.equal("USD Coin");
    expect(none).to.equal(null);
    expect(wallet).to.deep.equal({ owner: "11111111111111111111111111111111", data: new Uint8Array(0) });

    const largest = (await source.largestTokenAccounts(usdc)) ?? [];
    expect(largest).to.have.length(20);
    const { accounts } = await source.accounts(
      largest.map(({ address }) => address),
      "confirmed",
    );
    for (const [i, account] of accounts.entries()) {
      const raw = Buffer.from(account?.data ?? []);
      expect(encodeBase58(raw.subarray(0, 32))).to.equal(usdc);
      expect(raw.readBigUInt64LE(64)).to.equal(largest[i]?.amount);
      if (i > 0)
        expect(largest[i]?.amount ?? 0n).to.satisfy(
          (amount: bigint) => amount <= (largest[i - 1]?.amount ?? 0n),
        );
    }
    expect(await source.largestTokenAccounts(market.wallets[0] ?? "")).to.equal(undefined);
  });

  it("returns all token accounts of a mint as of a final slot, of both token programs", async () => {
    solana = await createTestSolana();
    solana.produce(60);
    const source = solana.source(QUICK);
    const { ledger } = solana.chain.generator;
    const { slot: minSlot } = await source.head("finalized");
    let found = 0;
    for (const tokenProgram of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]) {
      const [, token] = [...ledger.tokens.entries()].find(
        ([, { mint }]) => ledger.mint(mint).program === tokenProgram,
      ) ?? ["", undefined];
      const mint = token?.mint ?? "";
      const page = await source.tokenAccounts(mint, { program: tokenProgram, minSlot, after: null });
      expect([page?.slot, page?.next]).to.deep.equal([minSlot, null]);
      const listed = page?.accounts.slice(0, 100) ?? [];
      const read = await source.accounts(
        listed.map(({ address }) => address),
        "finalized",
      );
      for (const [i, account] of read.accounts.entries()) {
        const raw = Buffer.from(account?.data ?? []);
        expect(encodeBase58(raw.subarray(0, 32))).to.equal(mint);
        expect(encodeBase58(raw.subarray(32, 64))).to.equal(listed[i]?.owner);
        expect(raw.readBigUInt64LE(64)).to.equal(listed[i]?.amount);
      }
      found += listed.length;
    }
    expect(found).to.be.above(20);
  });

  it("returns accounts of the final slot, whatever has happened since", async () => {
    solana = await createTestSolana();
    solana.produce(50);
    const source = solana.source(QUICK);
    const { pools } = solana.chain.generator.market;
    const vaults = pools.slice(0, 12).map(({ vaults: [vault] }) => vault);
    async function held(commitment: Commitment): Promise<{ slot: number; amounts: bigint[] }> {
      const { slot, accounts } = await source.accounts(vaults, commitment);
      return {
        slot,
        amounts: accounts.map((account) => Buffer.from(account?.data ?? []).readBigUInt64LE(64)),
      };
    }
    const then = await held("confirmed");
    solana.produce(5);
    solana.fork(4);
    expect((await held("confirmed")).amounts).not.to.deep.equal(then.amounts);
    while (solana.chain.head("finalized") < then.slot) solana.produce(1);
    expect(await held("finalized")).to.deep.equal(then);
  });

  it("wakes on the node's slots, and on the timer once the socket is gone", async () => {
    solana = await createTestSolana({ skipped: 0 });
    const [server] = solana.servers;
    const source = solana.source({
      urls: [...solana.urls, server?.wsUrl ?? ""],
      options: { ...QUICK.options, socketClass: PlainSocket as unknown as typeof WebSocket },
    });
    const { signal } = new AbortController();
    let woken = 0;
    const waiting = source.waitForHead(60_000, signal).then(() => woken++);
    // Slots are produced until the subscription exists and reports them.
    while (woken === 0) {
      solana.produce(1);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await waiting;
    await server?.close();
    await source.waitForHead(1, signal);
    await source.waitForHead(1, signal);
  });
});
