import { expect } from "chai";
import { describe, it } from "mocha";
import { address, hash } from "../../test/kit/rows.ts";
import type { BlockBatch } from "./block-batch.ts";
import { joinSteps } from "./join-batches.ts";

/** One block with some events. */
function batchOf(number: number, events: number, more: Partial<BlockBatch> = {}): { batch: BlockBatch } {
  const block = { number, hash: hash(number), time: number };
  const placed = Array.from({ length: events }, (_, logIndex) => ({ logIndex }) as never);
  return {
    batch: {
      parent: { number: number - 1, hash: hash(number - 1) },
      last: block,
      created: [],
      gauges: [],
      answers: [],
      unknownPools: new Map([[address(1), number]]),
      blocks: [{ ...block, events: placed }],
      headers: [],
      ...more,
    },
  };
}

async function* from(steps: readonly { batch: BlockBatch }[], end?: Error) {
  yield* steps;
  if (end !== undefined) throw end;
}

async function ranges(steps: AsyncIterable<{ batch: BlockBatch }>): Promise<number[][]> {
  const found: number[][] = [];
  for await (const { batch } of steps) found.push(batch.blocks.map(({ number }) => number));
  return found;
}

const options = { mostEvents: 10, waitMs: 60_000 };

describe("joinSteps", () => {
  it("joins batches until they have enough events, and loses none", async () => {
    const steps = [4, 4, 4, 4, 30, 1].map((events, i) => batchOf(i + 1, events));
    expect(await ranges(joinSteps(from(steps), options))).to.deep.equal([[1, 2, 3], [4, 5], [6]]);
  });

  it("is one batch from the first parent to the last block; of an unknown pool its first block counts", async () => {
    for await (const { batch } of joinSteps(from([batchOf(1, 1), batchOf(2, 1)]), options)) {
      expect(batch.parent).to.deep.equal({ number: 0, hash: hash(0) });
      expect(batch.last.number).to.equal(2);
      expect([...batch.unknownPools]).to.deep.equal([[address(1), 1]]);
    }
  });

  it("does not join over a replaced block, nor batches with headers", async () => {
    const other = batchOf(2, 1, { parent: { number: 1, hash: hash(1, 7) } });
    const header = { number: 4 } as never;
    const steps = [batchOf(1, 1), other, batchOf(3, 1), batchOf(4, 1, { headers: [header] }), batchOf(5, 1)];
    expect(await ranges(joinSteps(from(steps), options))).to.deep.equal([[1], [2, 3], [4], [5]]);
  });

  it("does not wait for more where batches come slowly", async () => {
    const steps = [batchOf(1, 1), batchOf(2, 1)];
    expect(await ranges(joinSteps(from(steps), { ...options, waitMs: 0 }))).to.deep.equal([[1], [2]]);
  });

  it("gives what came before an error, then throws it", async () => {
    const found: number[] = [];
    const steps = joinSteps(from([batchOf(1, 1), batchOf(2, 1)], new Error("cut")), options);
    await (async () => {
      for await (const { batch } of steps) found.push(batch.last.number);
    })().then(
      () => expect.fail("It ended without the error."),
      (error: Error) => expect(error.message).to.equal("cut"),
    );
    expect(found).to.deep.equal([2]);
  });
});
