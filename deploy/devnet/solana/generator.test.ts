import { expect } from "chai";
import { before, it } from "mocha";
import { describeLong, randomRuns } from "../../../services/shared/testkit/describe.ts";
import type { SolanaTransaction } from "../../../services/solana/chain/port.ts";
import {
  findMalformedTransaction,
  isVoteTransaction,
} from "../../../services/solana/chain/validate-transaction.ts";
import type { ExpectedEvent, ExpectedTrade, ExpectedTransaction } from "./expected.ts";
import { createGenerator, type GeneratorOptions, type MadeBlock } from "./generator.ts";
import { TOKENS, usdAt } from "./market/tokens.ts";
import { keysOf, replayTokens, stepsOf } from "./test/replay.ts";

const TIME = 1_763_000_000;
const SLOT = 300_000_000;
const options = (more: Partial<GeneratorOptions> = {}): GeneratorOptions => ({
  seed: 1,
  time: TIME,
  slot: SLOT,
  ...more,
});
/** 250 where all is checked. */
const SLOTS = randomRuns(250, 120);
const timeOf = (slot: number) => TIME + Math.floor((slot - SLOT) * 20);

function makeBlocks(more: Partial<GeneratorOptions>, slots: number): MadeBlock[] {
  const generator = createGenerator(options(more));
  const blocks = Array.from({ length: slots }, (_, i) =>
    generator.make(SLOT + 1 + i, { time: timeOf(SLOT + 1 + i) }),
  );
  return blocks.filter((block) => block !== undefined);
}

const transactionsOf = (blocks: readonly MadeBlock[]) =>
  blocks.flatMap(({ raw }) => raw.transactions as SolanaTransaction[]);

describeLong("Solana generator", () => {
  let blocks: MadeBlock[];
  let transactions: SolanaTransaction[];
  let expected: Map<string, ExpectedTransaction>;
  before(() => {
    blocks = makeBlocks({}, SLOTS);
    transactions = transactionsOf(blocks);
    expected = new Map(blocks.flatMap((block) => block.expected).map((each) => [each.signature, each]));
  });

  it("makes the same chain of the same seed, and another of another", () => {
    expect(makeBlocks({}, 20)).to.deep.equal(blocks.filter(({ slot }) => slot <= SLOT + 20));
    const [other] = makeBlocks({ seed: 2 }, 5);
    expect(other?.blockhash).not.to.equal(blocks[0]?.blockhash);
    expect(other?.raw.transactions).not.to.deep.equal(blocks[0]?.raw.transactions);
  });

  it("links every block with the one before it, and skips some slots", () => {
    for (const [i, { raw, slot, parentSlot }] of blocks.entries()) {
      const parent = blocks[i - 1];
      if (parent === undefined) continue;
      expect(raw.previousBlockhash).to.equal(parent.blockhash);
      expect(parentSlot).to.equal(parent.slot);
      expect(slot).to.be.greaterThan(parentSlot);
    }
    expect(blocks.length).to.be.within(0.8 * SLOTS, SLOTS - 1);
    expect(new Set(transactions.map(({ transaction }) => transaction.signatures[0])).size).to.equal(
      transactions.length,
    );
  });

  it("takes slots back, and makes them again or another way", () => {
    const generator = createGenerator(options());
    const make = (from: number, count: number, fork = 0) =>
      Array.from({ length: count }, (_, i) =>
        generator.make(SLOT + from + i, { time: timeOf(SLOT + from + i), fork }),
      );
    make(1, 20);
    const first = make(21, 10);
    const after = generator.state();
    generator.goBack(SLOT + 21);
    const fork = make(21, 10, 1);
    expect(fork.map((block) => block?.blockhash)).not.to.deep.equal(first.map((block) => block?.blockhash));
    generator.goBack(SLOT + 21);
    expect(make(21, 10)).to.deep.equal(first);
    expect(sorted(generator.state())).to.deep.equal(sorted(after));
    expect(() => generator.goBack(SLOT - 40)).to.throw(RangeError, "Cannot go back");
  });

  it("goes on where another one stopped", () => {
    const generator = createGenerator(options());
    for (let slot = SLOT + 1; slot <= SLOT + 30; slot++) generator.make(slot, { time: timeOf(slot) });
    const next = createGenerator(options({ resume: generator.state() }));
    for (let slot = SLOT + 31; slot <= SLOT + 45; slot++)
      expect(next.make(slot, { time: timeOf(slot) })).to.deep.equal(
        generator.make(slot, { time: timeOf(slot) }),
      );
  });

  it("writes transactions that the reader of blocks accepts", () => {
    for (const transaction of transactions) expect(findMalformedTransaction(transaction)).to.equal(undefined);
    const votes = transactions.filter(isVoteTransaction);
    expect(votes.length / transactions.length).to.be.within(0.15, 0.3);
    const versions = new Set(transactions.map(({ version }) => version));
    expect([...versions]).to.have.members(["legacy", 0]);
    const loaded = transactions.filter(({ meta }) => (meta?.loadedAddresses?.writable.length ?? 0) > 0);
    expect(loaded.length).to.be.greaterThan(0.4 * SLOTS);
  });

  it("conserves lamports but for the fee, and tokens but for what instructions mint, burn and take", () => {
    for (const transaction of transactions) {
      const { meta } = transaction;
      if (meta === null) throw new Error("no meta");
      const sum = (balances: readonly number[]) => balances.reduce((total, each) => total + BigInt(each), 0n);
      expect(sum(meta.preBalances) - sum(meta.postBalances)).to.equal(BigInt(meta.fee));
      const keys = keysOf(transaction);
      const held = new Map(
        meta.postTokenBalances?.map(({ accountIndex, uiTokenAmount }) => [
          keys[accountIndex],
          BigInt(uiTokenAmount.amount),
        ]),
      );
      if (meta.err !== null) {
        expect(meta.postTokenBalances).to.deep.equal(meta.preTokenBalances);
        continue;
      }
      expect(held).to.deep.equal(replayTokens(transaction, [TOKENS.TOLL.mint]));
    }
  });

  it("has what real blocks have: every exchange and kind, routes, failures, mints, launches", () => {
    const events = [...expected.values()].flatMap((each) => each.events);
    const seen = new Set(
      events.map((event) => ("program" in event ? `${event.kind} ${event.program}` : event.kind)),
    );
    for (const program of [
      "raydium-amm-v4",
      "raydium-cpmm",
      "raydium-clmm",
      "orca-whirlpool",
      "meteora-dlmm",
      "meteora-damm-v2",
      "pumpswap",
    ])
      for (const kind of ["trade", "add_liquidity", "remove_liquidity"])
        expect(seen).to.include(`${kind} ${program}`);
    expect(seen).to.include("trade pump-fun").and.to.include("mint").and.to.include("burn");
    expect(
      events.some((event) => event.leg === 1),
      "two-hop swaps",
    ).to.equal(true);
    const failed = transactions.filter(({ meta }) => meta?.err !== null);
    expect(failed.length / transactions.length).to.be.within(0.02, 0.12);
    expect(
      failed.some(({ meta }) => (meta?.innerInstructions?.length ?? 0) > 0),
      "fails after transfers",
    ).to.equal(true);
    const routed = transactions.filter((each) => stepsOf(each).some(({ depth }) => depth >= 3));
    expect(routed.length).to.be.greaterThan(0.4 * SLOTS);
    const launched = events.filter((event) => event.kind === "mint" && event.amount === 10n ** 15n);
    expect(launched.length, "launches").to.be.greaterThan(0);
  });

  it("expects trades that agree with the vaults' balances", () => {
    let checked = 0;
    for (const transaction of transactions) {
      const told = expected.get(transaction.transaction.signatures[0] ?? "");
      for (const { trade, vaults } of listSingleTrades(transaction, told?.events ?? [])) {
        expect(vaults.get(trade.tokenIn)?.change).to.equal(trade.amountIn);
        expect(vaults.get(trade.tokenOut)?.change).to.equal(-trade.amountOut);
        expect(vaults.get(trade.tokenIn)?.after).to.equal(trade.reserveIn);
        expect(vaults.get(trade.tokenOut)?.after).to.equal(trade.reserveOut);
        checked += 1;
      }
    }
    expect(checked).to.be.greaterThan(3.2 * SLOTS);
  });

  it("keeps prices where they should be, but for the thin pool's", () => {
    const last = blocks.at(-1);
    const trades = blocks
      .flatMap((block) => block.expected.flatMap(({ events }) => events))
      .filter((event) => event.kind === "trade");
    const pools = new Map(trades.map((trade) => [trade.pool, trade]));
    const whole = (amount: bigint, decimals: number) => Number(amount) / 10 ** decimals;
    for (const { tokenIn, tokenOut, amountIn, amountOut, decimalsIn, decimalsOut } of pools.values()) {
      const pair = [tokenIn, tokenOut].map(
        (mint) => Object.values(TOKENS).find((token) => token.mint === mint)?.symbol,
      );
      if (!pair.every((symbol) => symbol === "SOL" || symbol === "USDC")) continue;
      const price = whole(amountOut, decimalsOut) / whole(amountIn, decimalsIn);
      const sol = tokenIn === TOKENS.SOL.mint ? price : 1 / price;
      expect(sol / usdAt("SOL", last?.blockTime ?? 0)).to.be.within(0.96, 1.04);
    }
    const thin = trades.filter(({ tokenIn, tokenOut }) =>
      [tokenIn, tokenOut].every((mint) => mint === TOKENS.ORBIT.mint || mint === TOKENS.USDT.mint),
    );
    expect(thin.length).to.be.greaterThan(0);
    for (const { tokenIn, amountIn, amountOut } of thin) {
      const orbit =
        tokenIn === TOKENS.ORBIT.mint
          ? Number(amountOut) / Number(amountIn)
          : Number(amountIn) / Number(amountOut);
      expect(orbit / TOKENS.ORBIT.usd).to.be.greaterThan(5);
    }
  });
});

/** Trades whose pool the transaction touches once, with what its vaults gained. */
function* listSingleTrades(transaction: SolanaTransaction, events: readonly ExpectedEvent[]) {
  const trades = events.filter((event): event is ExpectedTrade & ExpectedEvent => event.kind === "trade");
  const keys = keysOf(transaction);
  for (const trade of trades) {
    if (trade.program === "pump-fun" || trades.filter(({ pool }) => pool === trade.pool).length > 1) continue;
    const instruction = stepsOf(transaction)[trade.instructionIndex];
    const amounts = (list: NonNullable<SolanaTransaction["meta"]>["preTokenBalances"]) =>
      new Map(
        list?.map(({ accountIndex, mint, owner, uiTokenAmount }) => [
          keys[accountIndex] ?? "",
          { mint, owner, amount: BigInt(uiTokenAmount.amount) },
        ]),
      );
    const [before, after] = [
      amounts(transaction.meta?.preTokenBalances),
      amounts(transaction.meta?.postTokenBalances),
    ];
    const vaults = new Map<string, { change: bigint; after: bigint }>();
    for (const [address, { mint, owner, amount }] of after) {
      // What the instruction names and no wallet of the devnet owns.
      const isVault =
        instruction?.accounts.includes(address) === true &&
        owner !== trade.account &&
        isPoolSide(owner, trade, instruction.accounts);
      if (isVault) vaults.set(mint, { change: amount - (before.get(address)?.amount ?? 0n), after: amount });
    }
    yield { trade, vaults };
  }
}

/** Vaults belong to the pool itself or to an authority that the instruction names first. */
function isPoolSide(owner: string | undefined, trade: ExpectedTrade, accounts: readonly string[]): boolean {
  const authority = {
    "raydium-amm-v4": accounts[2],
    "raydium-cpmm": accounts[1],
    "meteora-damm-v2": accounts[0],
  }[trade.program];
  return owner === (authority ?? trade.pool);
}

function sorted(state: ReturnType<ReturnType<typeof createGenerator>["state"]>) {
  const { ledger, last } = state;
  const byName = (a: readonly [string, unknown], b: readonly [string, unknown]) => (a[0] < b[0] ? -1 : 1);
  return {
    last,
    ...Object.fromEntries(Object.entries(ledger).map(([name, entries]) => [name, [...entries].sort(byName)])),
  };
}
