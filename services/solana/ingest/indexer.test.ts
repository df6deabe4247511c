import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { Collection, Store } from "../../shared/storage/port.ts";
import type { BalanceChange, DecodedTransaction } from "../decode/model.ts";
import { ANCHORS } from "../price/price-book.ts";
import { type CheckpointRow, COLLECTIONS, candles, journal } from "../store/collections.ts";
import { openTestStore } from "../test/store.ts";
import { Indexer } from "./indexer.ts";
import type { DecodedBlock } from "./indexer-block.ts";
import { takeBack, writeBatch } from "./write.ts";

const USDC = ANCHORS[0] as string;
const MINTS = [USDC, "SOL", "A", "B"];
const START = 1_700_000_000;

const amount = fc.bigInt({ min: 1n, max: 10n ** 13n });

const trade = fc
  .record({
    pair: fc.shuffledSubarray(MINTS, { minLength: 2, maxLength: 2 }),
    amounts: fc.tuple(amount, amount),
    reserves: fc.tuple(fc.option(amount), fc.option(amount)),
    instructionIndex: fc.nat(3),
    account: fc.constantFrom("x", "y", "z"),
  })
  .map(({ pair: [tokenIn = "", tokenOut = ""], amounts, reserves, instructionIndex, account }) => ({
    kind: "trade" as const,
    instructionIndex,
    leg: 0,
    dex: "orca" as const,
    program: "orca-whirlpool",
    pool: [tokenIn, tokenOut].sort().join("-"),
    account,
    tokenIn,
    amountIn: amounts[0],
    decimalsIn: 6,
    tokenOut,
    amountOut: amounts[1],
    decimalsOut: 6,
    reserveIn: reserves[0],
    reserveOut: reserves[1],
  }));

const supply = fc.record({
  kind: fc.constantFrom("mint" as const, "burn" as const),
  instructionIndex: fc.integer({ min: 4, max: 6 }),
  leg: fc.constant(0),
  mint: fc.constantFrom("A", "B"),
  amount,
  decimals: fc.constant(6),
  accountCount: fc.constant(3),
  authority: fc.constant(null),
});

const balance: fc.Arbitrary<BalanceChange> = fc.record({
  tokenAccount: fc.constantFrom("t1", "t2", "t3"),
  mint: fc.constantFrom("A", "B"),
  owner: fc.constantFrom("x", "y", null),
  decimals: fc.constant(6),
  isToken2022: fc.boolean(),
  before: amount,
  after: fc.oneof(fc.constant(0n), amount),
});

const transactions: fc.Arbitrary<DecodedTransaction[]> = fc
  .array(
    fc.record({
      feePayer: fc.constantFrom("x", "y", "z"),
      events: fc.uniqueArray(fc.oneof(trade, supply), {
        selector: (event) => event.instructionIndex,
        maxLength: 3,
      }),
      balances: fc.array(balance, { maxLength: 3 }),
    }),
    { maxLength: 3 },
  )
  .map((found) => found.map((each, i) => ({ ...each, signature: `s${i}`, disagreements: [] })));

/** A chain of blocks; every third slot or so was skipped. */
const chain: fc.Arbitrary<DecodedBlock[]> = fc
  .array(fc.record({ skipped: fc.nat(2), seconds: fc.nat(90), transactions }), {
    minLength: 1,
    maxLength: 12,
  })
  .map((found) => {
    let slot = 100;
    let time = START;
    return found.map(({ skipped, seconds, transactions: held }) => {
      const parentSlot = slot;
      slot += 1 + Math.max(0, skipped - 1);
      time += seconds;
      const named = held.map((each) => ({ ...each, signature: `${slot}-${each.signature}` }));
      return { slot, parentSlot, blockhash: `hash-${slot}`, time, transactions: named };
    });
  });

const first: CheckpointRow = {
  chainId: 0,
  slot: 100,
  blockhash: "hash-100",
  time: START,
  fromSlot: 101,
  fromTime: START,
  rowsFromSlot: 101,
  rowsFromTime: START,
  headSlot: 100,
  finalizedSlot: 0,
  fromBlockhash: "",
};

const guard = () => [];

async function index(
  store: Store,
  of: { indexer: Indexer; blocks: readonly DecodedBlock[]; from: CheckpointRow; finalizedSlot?: number },
): Promise<CheckpointRow> {
  const { indexer, blocks, from } = of;
  const last = blocks[blocks.length - 1];
  if (last === undefined) return from;
  const batch = await indexer.apply(blocks);
  const { slot, blockhash, time } = last;
  const finalizedSlot = of.finalizedSlot ?? from.finalizedSlot;
  const checkpoint = { ...from, slot, blockhash, time, headSlot: slot, finalizedSlot };
  const rows = blocks.map(({ transactions: _, ...block }) => block);
  await writeBatch(store, { batch, blocks: rows, previous: from, checkpoint, guard });
  return checkpoint;
}

/** Everything in a store but how it could be taken back, and what is known of the cluster. */
async function contents(store: Store): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const each of COLLECTIONS as readonly Collection[]) {
    if (each === (journal as Collection)) continue;
    const rows = await store.find(each, {});
    found[each.name] = rows.map(({ headSlot: _, finalizedSlot: __, ...row }) => row);
  }
  return found;
}

async function fresh(blocks: readonly DecodedBlock[]): Promise<Record<string, unknown[]>> {
  const store = await openTestStore();
  try {
    await index(store, { indexer: new Indexer(store), blocks, from: first });
    return await contents(store);
  } finally {
    await store.close();
  }
}

describe("Solana indexer", () => {
  it("leaves the same store, however blocks are cut into batches and whoever goes on", async () => {
    await fc.assert(
      fc.asyncProperty(
        chain,
        fc.array(fc.nat(4)),
        fc.array(fc.boolean()),
        async (blocks, sizes, restarts) => {
          const store = await openTestStore();
          try {
            let indexer = new Indexer(store);
            let checkpoint = first;
            for (let at = 0, n = 0; at < blocks.length; n++) {
              const size = 1 + (sizes[n] ?? 0);
              if (restarts[n]) indexer = new Indexer(store);
              const part = blocks.slice(at, at + size);
              checkpoint = await index(store, { indexer, blocks: part, from: checkpoint });
              at += size;
            }
            expect(await contents(store)).to.deep.equal(await fresh(blocks));
          } finally {
            await store.close();
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it("takes slots back as if they had never been, and goes on with others", async () => {
    await fc.assert(
      fc.asyncProperty(chain, chain, fc.nat(), async (blocks, other, forkSeed) => {
        const store = await openTestStore();
        try {
          const indexer = new Indexer(store);
          let checkpoint = first;
          for (const block of blocks)
            checkpoint = await index(store, { indexer, blocks: [block], from: checkpoint });
          const kept = blocks.slice(0, forkSeed % (blocks.length + 1));
          const after = kept.at(-1)?.slot ?? first.slot;
          checkpoint = await takeBack(store, { checkpoint, after, guard });
          indexer.clear();
          const base = kept.length === 0 ? first : checkpoint;
          if (kept.length > 0) expect(checkpoint.slot).to.equal(after);
          const replacement = other
            .filter(({ slot }) => slot > after)
            .map((block) => ({ ...block, blockhash: `other-${block.slot}`, time: block.time + 2_000 }));
          await index(store, { indexer, blocks: replacement, from: { ...checkpoint, slot: base.slot } });
          if (kept.length + replacement.length > 0)
            expect(await contents(store)).to.deep.equal(await fresh([...kept, ...replacement]));
        } finally {
          await store.close();
        }
      }),
      { numRuns: 40 },
    );
  });

  it("keeps journals until their slots are final", async () => {
    const store = await openTestStore();
    const indexer = new Indexer(store);
    const block = (slot: number): DecodedBlock => ({
      slot,
      parentSlot: slot - 1,
      blockhash: `hash-${slot}`,
      time: START,
      transactions: [],
    });
    let checkpoint = first;
    for (const slot of [101, 102, 103, 104])
      checkpoint = await index(store, {
        indexer,
        blocks: [block(slot)],
        from: checkpoint,
        finalizedSlot: slot - 2,
      });
    const kept = await store.find(journal, { fields: ["fromSlot"] });
    expect(kept.map(({ fromSlot }) => fromSlot)).to.deep.equal([103, 104]);
    await store.close();
  });

  it("has candles of a minute, an hour and a day for the same trades", async () => {
    const found = await fresh([
      {
        slot: 101,
        parentSlot: 100,
        blockhash: "h",
        time: START,
        transactions: [
          {
            signature: "s",
            feePayer: "x",
            balances: [],
            disagreements: [],
            events: [
              {
                kind: "trade",
                instructionIndex: 0,
                leg: 0,
                dex: "orca",
                program: "orca-whirlpool",
                pool: "p",
                account: "x",
                tokenIn: USDC,
                amountIn: 3_000_000n,
                decimalsIn: 6,
                tokenOut: "SOL",
                amountOut: 20_000_000n,
                decimalsOut: 9,
                reserveIn: 10n ** 12n,
                reserveOut: 10n ** 12n,
              },
            ],
          },
        ],
      },
    ]);
    const sol = (found[candles.name] as { mint: string; seconds: number; start: number }[]).filter(
      ({ mint }) => mint === "SOL",
    );
    const same = { open: 150, high: 150, low: 150, close: 150, volumeUsd: 3, volumeToken: 0.02 };
    expect(sol).to.deep.equal(
      [60, 3_600, 86_400].map((seconds) => ({
        mint: "SOL",
        seconds,
        start: START - (START % seconds),
        ...same,
        trades: 1,
        transactions: 1,
      })),
    );
  });
});
