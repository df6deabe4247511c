import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { ReorgDetected } from "../../shared/chain-errors.ts";
import type { StoredBlock } from "../../shared/evm/finality/fork.ts";
import { findFork } from "../../shared/index/evm/fork.ts";
import { type HeaderRow, headers } from "../../shared/index/evm/headers.ts";
import { put } from "../../shared/storage/port.ts";
import { type PoolEventRow, poolEvents } from "../store/collections.ts";
import { createFakeSource, headersUpTo } from "../test/kit/fake-source.ts";
import { CHAIN_ID, checkpointRow, eventRow, hash, openTestStore } from "../test/kit/rows.ts";
import { findLastRow, withinIndex } from "./fork.ts";

const FROM = 100;
const START_S = 1_700_000_000;
const timeOf = (number: number) => START_S + number * 2;

function keptHeader(number: number): HeaderRow {
  return {
    chainId: CHAIN_ID,
    number,
    hash: hash(number),
    parentHash: hash(number - 1),
    time: timeOf(number),
  };
}

const eventRowAt = (blockNumber: number): PoolEventRow =>
  eventRow({ blockNumber, blockHash: hash(blockNumber), time: timeOf(blockNumber) });

/** Runs findFork on a store with these headers and rows, and a chain with other blocks above `fork`. */
async function findIn(at: {
  kept: readonly number[];
  rows: readonly number[];
  checkpoint: number;
  fork: number;
  head?: number;
  final?: number;
}) {
  const store = await openTestStore();
  await store.write([put(headers, at.kept.map(keptHeader)), put(poolEvents, at.rows.map(eventRowAt))]);
  const source = createFakeSource({
    headers: headersUpTo(at.head ?? at.checkpoint + 5, { forkedAbove: at.fork }),
  });
  const checkpoint = checkpointRow({
    fromBlock: FROM,
    blockNumber: at.checkpoint,
    blockHash: hash(at.checkpoint),
  });
  const final = block(at.final ?? 0);
  const found = withinIndex(await findFork(store, { source, checkpoint, final, findLastRow }), checkpoint);
  await store.close();
  const target = found && { number: found.number, hash: found.hash, time: found.time };
  return { target, requested: source.headerRequests };
}

const block = (number: number): StoredBlock => ({ number, hash: hash(number), time: timeOf(number) });
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe("findFork", () => {
  it("is the checkpoint itself where nothing was replaced", async () => {
    const { target } = await findIn({ kept: range(180, 200), rows: [], checkpoint: 200, fork: 1_000 });
    expect(target).to.deep.equal(block(200));
  });

  it("is the last kept header that the chain still has, found by one request and confirmed by another", async () => {
    const { target, requested } = await findIn({
      kept: range(180, 200),
      rows: [150, 190],
      checkpoint: 200,
      fork: 187,
    });
    expect(target).to.deep.equal(block(187));
    expect(requested).to.have.length(2);
  });

  it("never looks above the chain's head", async () => {
    const { target } = await findIn({
      kept: range(180, 200),
      rows: [],
      checkpoint: 200,
      fork: 1_000,
      head: 190,
    });
    expect(target).to.deep.equal(block(190));
  });

  it("is the last row's block that the chain still has, where the fork is deeper than the headers", async () => {
    const rows = [101, 120, 121, 150, 170, 185, 199];
    expect((await findIn({ kept: range(180, 200), rows, checkpoint: 200, fork: 160 })).target).to.deep.equal(
      block(150),
    );
    expect((await findIn({ kept: range(180, 200), rows, checkpoint: 200, fork: 121 })).target).to.deep.equal(
      block(121),
    );
    expect((await findIn({ kept: range(180, 200), rows, checkpoint: 200, fork: 101 })).target).to.deep.equal(
      block(101),
    );
  });

  it("uses rows alone where no headers are kept", async () => {
    const rows = [101, 150, 200];
    expect((await findIn({ kept: [], rows, checkpoint: 200, fork: 1_000 })).target).to.deep.equal(block(200));
    expect((await findIn({ kept: [], rows, checkpoint: 200, fork: 180 })).target).to.deep.equal(block(150));
  });

  it("is null where the two have nothing in common", async () => {
    const rows = [101, 150, 199];
    expect((await findIn({ kept: range(180, 200), rows, checkpoint: 200, fork: 50 })).target).to.equal(null);
    expect((await findIn({ kept: range(180, 200), rows: [], checkpoint: 200, fork: 150 })).target).to.equal(
      null,
    );
    expect((await findIn({ kept: [], rows: [], checkpoint: 200, fork: 150 })).target).to.equal(null);
  });

  it("is the final block where everything after it was replaced, and never looks deeper", async () => {
    const rows = [101, 120, 150, 199];
    const { target } = await findIn({ kept: [], rows, checkpoint: 200, fork: 140, final: 140 });
    expect(target).to.deep.equal(block(140));
  });

  it("is never below the final block: a chain with another one there is another chain", async () => {
    let error: unknown;
    await findIn({ kept: range(180, 200), rows: [101], checkpoint: 200, fork: 139, final: 140 }).catch(
      (thrown: unknown) => {
        error = thrown;
      },
    );
    expect(error).to.be.instanceOf(ReorgDetected);
  });

  it("is undefined where the chain ends below the final block: a node that is behind proves nothing", async () => {
    const { target } = await findIn({
      kept: range(180, 200),
      rows: [101],
      checkpoint: 200,
      fork: 90,
      head: 139,
      final: 140,
    });
    expect(target).to.equal(undefined);
  });

  it("uses the checkpoint itself where headers were kept only before a long run", async () => {
    const rows = [101, 150, 190];
    const kept = range(110, 120);
    expect((await findIn({ kept, rows, checkpoint: 200, fork: 1_000 })).target).to.deep.equal(block(200));
    expect((await findIn({ kept, rows, checkpoint: 200, fork: 160 })).target).to.deep.equal(block(150));
    expect((await findIn({ kept, rows, checkpoint: 200, fork: 118 })).target).to.deep.equal(block(118));
  });

  it("finds every fork among rows of every block", async () => {
    const store = await openTestStore();
    const rows = range(FROM, 160);
    await store.write([put(poolEvents, rows.map(eventRowAt))]);
    for (const fork of rows) {
      const source = createFakeSource({ headers: headersUpTo(170, { forkedAbove: fork }) });
      const checkpoint = checkpointRow({ fromBlock: FROM, blockNumber: 160, blockHash: hash(160) });
      const found = await findFork(store, { source, checkpoint, final: block(0), findLastRow });
      expect(found?.number).to.equal(fork);
    }
    await store.close();
  });

  it("finds the same as a check of every row, with few requests", async () => {
    const places = fc.record({
      rows: fc.uniqueArray(fc.integer({ min: FROM, max: 260 }), { maxLength: 150 }),
      fork: fc.integer({ min: FROM - 1, max: 265 }),
      kept: fc.nat(30),
    });
    await fc.assert(
      fc.asyncProperty(places, async ({ rows, fork, kept }) => {
        const { target, requested } = await findIn({
          kept: range(261 - kept, 260),
          rows,
          checkpoint: 260,
          fork,
        });
        const headersInCommon = kept > 0 && fork >= 261 - kept;
        const common = rows
          .filter((number) => number <= fork && number < 261 - kept)
          .sort((a, b) => b - a)[0];
        // The checkpoint's own block is known without a kept header.
        const expected = headersInCommon || fork >= 260 ? Math.min(fork, 260) : common;
        expect(target?.number).to.equal(expected);
        expect(requested.length).to.be.at.most(2 + Math.ceil(Math.log2(260 - FROM)));
      }),
      { numRuns: 40 },
    );
  });
});
