import { expect } from "chai";
import { describe, it } from "mocha";
import { hash } from "../test/kit/rows.ts";
import type { BlockBatch } from "./fetch/block-batch.ts";
import { LEAST_OF_A_POOL, MANY_POOLS, MOST_EVENTS, patienceOver, Unwritten } from "./unwritten.ts";

/** One block with some events. */
function batchOf(number: number, events: number, more: Partial<BlockBatch> = {}): BlockBatch {
  const block = { number, hash: hash(number), time: number };
  return {
    parent: { number: number - 1, hash: hash(number - 1) },
    last: block,
    created: [],
    gauges: [],
    answers: [],
    unknownPools: new Map(),
    blocks: [{ ...block, events: Array.from({ length: events }, (_, logIndex) => ({ logIndex }) as never) }],
    headers: [],
    ...more,
  };
}

/** Notes what it was given; fails at a block. */
function indexerOf(failsAt?: number) {
  const added: unknown[] = [];
  return {
    added,
    addAnswers: (answers: readonly unknown[]) => void added.push(...answers),
    addBlock: ({ number }: { number: number }) => {
      if (number === failsAt) throw new Error("bad block");
      added.push(number);
    },
  };
}

const few = { events: 1, pools: 1, known: 1 };

describe("Unwritten", () => {
  it("adds batches in order, answers of feeds before their blocks, and gives all of them once", () => {
    const [unwritten, indexer] = [new Unwritten(), indexerOf()];
    const answer = { token: "usd" } as never;
    unwritten.add(indexer, batchOf(1, 3));
    unwritten.add(indexer, batchOf(2, 4, { answers: [answer] }));
    expect(indexer.added).to.deep.equal([1, answer, 2]);
    const taken = unwritten.take();
    expect([taken?.batch.last.number, taken?.events]).to.deep.equal([2, 7]);
    unwritten.settle();
    expect([unwritten.last, unwritten.take(), unwritten.isBroken]).to.deep.equal([
      undefined,
      undefined,
      false,
    ]);
    unwritten.add(indexer, batchOf(3, 1));
    expect(unwritten.take()?.events).to.equal(1);
  });

  it("waits for as many events as it is told", () => {
    const patient = new Unwritten({ mostEvents: 2 * MOST_EVENTS });
    patient.add(indexerOf(), batchOf(1, 1));
    expect(patient.isDue({ ...few, events: 2 * MOST_EVENTS - 1 })).to.equal(false);
    expect(patient.isDue({ ...few, events: 2 * MOST_EVENTS })).to.equal(true);
  });

  it("is due with enough events, many pools with few events, after a while, and with headers", () => {
    const unwritten = new Unwritten();
    expect(unwritten.isDue({ ...few, events: MOST_EVENTS })).to.equal(false);
    unwritten.add(indexerOf(), batchOf(1, 1));
    expect(unwritten.isDue(few)).to.equal(false);
    expect(unwritten.isDue({ ...few, events: MOST_EVENTS })).to.equal(true);
    const often = LEAST_OF_A_POOL * MANY_POOLS;
    expect(unwritten.isDue({ ...few, events: often - 1, pools: MANY_POOLS })).to.equal(true);
    expect(unwritten.isDue({ ...few, events: often, pools: MANY_POOLS })).to.equal(false);
    expect(unwritten.isDue({ ...few, events: often - 1, pools: MANY_POOLS - 1 })).to.equal(false);
    const impatient = new Unwritten({ mostMs: 0 });
    impatient.add(indexerOf(), batchOf(1, 1));
    expect(impatient.isDue(few)).to.equal(true);
    unwritten.add(indexerOf(), batchOf(2, 1, { headers: [{ number: 2 } as never] }));
    expect(unwritten.isDue(few)).to.equal(true);
  });

  it("waits over an index while its pools leave memory: the more it knows, the fewer of them", () => {
    const unwritten = new Unwritten(patienceOver({ engine: "sqlite" }));
    unwritten.add(indexerOf(), batchOf(1, 1));
    /** How many pools wait when a write is due, each with an event. */
    const poolsUntilDue = (known: number) => {
      let pools = 0;
      while (!unwritten.isDue({ events: pools, pools, known })) pools += 100;
      return pools;
    };
    expect([10_000, 300_000, 500_000].map(poolsUntilDue)).to.deep.equal([36_100, 24_300, 16_200]);
    // However many are known, some wait.
    expect(poolsUntilDue(5_000_000)).to.equal(MANY_POOLS);
    expect(unwritten.isDue({ ...few, events: 200_000 })).to.equal(true);
    expect(unwritten.isDue({ ...few, events: 199_999 })).to.equal(false);
    // Events take memory too.
    expect(unwritten.isDue({ events: 71_000, pools: 20_000, known: 20_000 })).to.equal(true);
    expect(unwritten.isDue({ events: 70_000, pools: 20_000, known: 20_000 })).to.equal(false);
    // Objects of the heap.
    const ofObjects = new Unwritten(patienceOver({ engine: "mongodb" }));
    ofObjects.add(indexerOf(), batchOf(1, 1));
    expect(ofObjects.isDue({ ...few, events: MOST_EVENTS })).to.equal(true);
    expect(ofObjects.isDue({ ...few, events: MOST_EVENTS - 1 })).to.equal(false);
    expect(ofObjects.isDue({ events: 29_000, pools: 29_000, known: 29_000 })).to.equal(false);
    expect(ofObjects.isDue({ events: 31_000, pools: 31_000, known: 31_000 })).to.equal(true);
  });

  it("is due half a minute after the first batch, however slow its source is", () => {
    const { now } = performance;
    let nowMs = 1_000_000;
    performance.now = () => nowMs;
    try {
      for (const patience of [{}, patienceOver({ engine: "sqlite" }), patienceOver({ engine: "mongodb" })]) {
        const unwritten = new Unwritten(patience);
        for (let round = 0; round < 2; round++) {
          unwritten.add(indexerOf(), batchOf(1, 1));
          nowMs += 20_000;
          unwritten.add(indexerOf(), batchOf(2, 1));
          nowMs += 9_999;
          expect(unwritten.isDue(few)).to.equal(false);
          nowMs += 1;
          expect(unwritten.isDue(few)).to.equal(true);
          unwritten.take();
          unwritten.settle();
        }
      }
    } finally {
      performance.now = now;
    }
  });

  it("is due sooner over an index where that is wanted", () => {
    const unwritten = new Unwritten(patienceOver({ engine: "sqlite" }, 0));
    unwritten.add(indexerOf(), batchOf(1, 1));
    expect(unwritten.isDue(few)).to.equal(true);
  });

  it("is broken after a failed batch, and gives nothing until it is cleared", () => {
    const unwritten = new Unwritten();
    unwritten.add(indexerOf(), batchOf(1, 3));
    expect(() => unwritten.add(indexerOf(2), batchOf(2, 3))).to.throw("bad block");
    expect([unwritten.isBroken, unwritten.take()]).to.deep.equal([true, undefined]);
    unwritten.clear();
    expect([unwritten.isBroken, unwritten.last]).to.deep.equal([false, undefined]);
  });

  it("is broken from the beginning of a write to its end", () => {
    const unwritten = new Unwritten();
    unwritten.add(indexerOf(), batchOf(1, 3));
    unwritten.take();
    expect(unwritten.isBroken).to.equal(true);
    unwritten.settle();
    expect(unwritten.isBroken).to.equal(false);
  });

  it("is broken where what was taken could not be written, though more was added meanwhile", () => {
    const unwritten = new Unwritten();
    unwritten.add(indexerOf(), batchOf(1, 3));
    unwritten.take();
    unwritten.settle();
    unwritten.add(indexerOf(), batchOf(2, 3));
    unwritten.fail();
    expect([unwritten.isBroken, unwritten.last, unwritten.take()]).to.deep.equal([
      true,
      undefined,
      undefined,
    ]);
    unwritten.clear();
    expect(unwritten.isBroken).to.equal(false);
  });
});
