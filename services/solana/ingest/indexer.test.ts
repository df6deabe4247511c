import { expect } from "chai";
import fc from "fast-check";
import { it } from "mocha";
import type { Store } from "../../shared/storage/port.ts";
import { describeLong, randomRuns } from "../../shared/testkit/describe.ts";
import { ANCHORS } from "../price/limits.ts";
import { type CheckpointRow, candles, journal } from "../store/collections.ts";
import { transactions } from "../test/arbitrary-transactions.ts";
import { contents, openTestStore } from "../test/store.ts";
import { Indexer } from "./indexer.ts";
import type { TimedBlock } from "./timed-block.ts";
import { rollBack, writeBatch } from "./write.ts";

const USDC = ANCHORS[0] as string;
const START = 1_700_000_000;

/** A chain of blocks; every third slot or so was skipped. */
const chain: fc.Arbitrary<TimedBlock[]> = fc
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
  trades: 0,
  otherSwaps: 0,
};

const guard = () => [];

async function index(
  store: Store,
  run: { indexer: Indexer; blocks: readonly TimedBlock[]; from: CheckpointRow; finalizedSlot?: number },
): Promise<CheckpointRow> {
  const { indexer, blocks, from } = run;
  const last = blocks[blocks.length - 1];
  if (last === undefined) return from;
  const batch = await indexer.apply(blocks);
  const { slot, blockhash, time } = last;
  const finalizedSlot = run.finalizedSlot ?? from.finalizedSlot;
  const checkpoint = { ...from, slot, blockhash, time, headSlot: slot, finalizedSlot };
  const rows = blocks.map(({ transactions: _, ...block }) => ({ ...block, trades: 0, otherSwaps: 0 }));
  const final = { chainId: 0, slot: finalizedSlot, blockhash: "", genesisHash: null };
  await writeBatch(store, { batch, blocks: rows, previous: from, checkpoint, final, guard });
  return checkpoint;
}

async function fresh(blocks: readonly TimedBlock[]): Promise<Record<string, unknown[]>> {
  const store = await openTestStore();
  try {
    await index(store, { indexer: new Indexer(store), blocks, from: first });
    return await contents(store);
  } finally {
    await store.close();
  }
}

describeLong("Solana indexer", () => {
  it("leaves the same store, however blocks are cut into batches and whichever indexer continues", async () => {
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
      { numRuns: randomRuns(40) },
    );
  });

  it("rolls slots back completely, and continues with others", async () => {
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
          checkpoint = await rollBack(store, { checkpoint, after, guard });
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
      { numRuns: randomRuns(40) },
    );
  });

  it("keeps journals until their slots are final", async () => {
    const store = await openTestStore();
    const indexer = new Indexer(store);
    const block = (slot: number): TimedBlock => ({
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
            transactionIndex: 0,
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
        ifRefused: null,
      })),
    );
  });
});
