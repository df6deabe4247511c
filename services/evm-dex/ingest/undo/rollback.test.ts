import { expect } from "chai";
import fc from "fast-check";
import { it } from "mocha";
import { headers } from "../../../shared/index/evm/headers.ts";
import { parallelGroups, put, type Store, type WriteStep } from "../../../shared/storage/port.ts";
import { describeLong, leastCases, randomRuns } from "../../../shared/testkit/describe.ts";
import { type CheckpointRow, COLLECTIONS, poolEvents } from "../../store/collections.ts";
import { getCheckpoint } from "../../store/queries.ts";
import { knownWallets, lpAnchors, lpEvents } from "../../store/v2-collections.ts";
import { address, CHAIN_ID, openTestStore } from "../../test/kit/rows.ts";
import {
  type BlockPlan,
  blockPlans,
  growChain,
  indexBlocks,
  type SmallBlock,
  startCheckpoint,
} from "../../test/kit/small-chain.ts";
import { rollbackTo } from "./rollback.ts";

const guard = () => [];

async function dump(store: Store): Promise<Record<string, unknown[]>> {
  const all: Record<string, unknown[]> = {};
  for (const collection of COLLECTIONS) all[collection.name] = await store.find(collection, {});
  return all;
}

async function dumpFresh(chain: readonly SmallBlock[]): Promise<Record<string, unknown[]>> {
  const store = await openTestStore();
  await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
  const all = await dump(store);
  await store.close();
  return all;
}

/** Compared without what a run from the start sees otherwise, and collection by collection for a short report. */
function expectSame(
  actual: Record<string, unknown[]>,
  expected: Record<string, unknown[]>,
  options: { without?: readonly string[] } = {},
): void {
  const plain = (name: string, rows: unknown[]) =>
    name === "checkpoints" ? rows.map((row) => ({ ...(row as CheckpointRow), chainHead: 0 })) : rows;
  for (const [name, rows] of Object.entries(expected)) {
    if (options.without?.includes(name)) continue;
    expect(plain(name, actual[name] ?? []), name).to.deep.equal(plain(name, rows));
  }
}

function targetOf(chain: readonly SmallBlock[], number: number) {
  const block = chain[number - 1]?.block;
  const start = startCheckpoint();
  if (block === undefined) return { number: 0, hash: start.blockHash, time: start.blockTime };
  return { number, hash: block.hash, time: block.time };
}

/**
 * Where a write fails: at the n-th step on a collection, some of whose rows are written, since a server promises no
 * order; of the steps that are done beside it, all or some.
 */
interface Kill {
  readonly collection: string;
  readonly step: number;
  /** By turns. */
  readonly isDone: readonly boolean[];
}
const isDone = fc.array(fc.boolean(), { minLength: 1, maxLength: 5 });
const anyKill: fc.Arbitrary<Kill> = fc.oneof(
  // The rows that all else is derived from.
  fc.record({
    collection: fc.constantFrom(poolEvents.name, lpEvents.name),
    step: fc.constant(0),
    isDone,
  }),
  fc.record({
    collection: fc.constantFrom(...COLLECTIONS.map(({ name }) => name)),
    step: fc.constantFrom(0, 1, 2, 5),
    isDone,
  }),
);

const story = fc.record({
  plan: blockPlans(14),
  keep: fc.nat(14),
  other: blockPlans(6),
  batch: fc.integer({ min: 1, max: 5 }),
});

describeLong("rollbackTo", () => {
  it("leaves what an index up to that block has, and another branch can continue from it", async () => {
    let undone = 0;
    await fc.assert(
      fc.asyncProperty(story, async ({ plan, keep, other, batch }) => {
        const chain = growChain(plan);
        const kept = chain.slice(0, Math.min(keep, chain.length - 1));
        const store = await openTestStore();
        const checkpoint = await indexBlocks(store, { chain, checkpoint: startCheckpoint(), batch });
        const target = targetOf(chain, kept.length);
        undone += await rollbackTo(store, { checkpoint, target, guard });
        if (kept.length > 0) expectSame(await dump(store), await dumpFresh(kept));
        const branch = growChain(other, { after: kept, branch: 1 });
        const back = (await getCheckpoint(store, CHAIN_ID)) as CheckpointRow;
        await indexBlocks(store, { chain: branch, checkpoint: back, batch });
        expectSame(await dump(store), await dumpFresh(branch));
        await store.close();
      }),
      { numRuns: randomRuns(20) },
    );
    expect(undone, "rollbacks that undo nothing prove nothing").to.be.at.least(leastCases(25));
  });

  it("changes nothing where it rolls back to the checkpoint itself, however often", async () => {
    const chain = growChain(fc.sample(blockPlans(14), { numRuns: 1, seed: 5 })[0] as BlockPlan[]);
    const store = await openTestStore();
    const checkpoint = await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
    const all = await dump(store);
    for (let i = 0; i < 2; i++) {
      expect(await rollbackTo(store, { checkpoint, target: targetOf(chain, chain.length), guard })).to.equal(
        0,
      );
      expectSame(await dump(store), all);
    }
    await store.close();
  });

  it("keeps what wallets held before the index, unless it goes back to before that", async () => {
    const chain = growChain(fc.sample(blockPlans(14), { numRuns: 1, seed: 5 })[0] as BlockPlan[]);
    const store = await openTestStore();
    const checkpoint = await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
    const key = { chainId: CHAIN_ID, wallet: address(0xa) };
    await store.write([
      put(knownWallets, [{ ...key, contracts: 1, readAtBlock: chain.length }]),
      put(lpAnchors, [{ ...key, poolAddress: address(0x900), balance: 1n, staked: 0n }]),
    ]);
    const count = async () => [await store.count(knownWallets, {}), await store.count(lpAnchors, {})];
    await rollbackTo(store, { checkpoint, target: targetOf(chain, checkpoint.fromBlock), guard });
    expect(await count()).to.deep.equal([1, 1]);
    await rollbackTo(store, { checkpoint, target: targetOf(chain, checkpoint.fromBlock - 1), guard });
    expect(await count()).to.deep.equal([0, 0]);
    await store.close();
  });

  it("repairs a write that was killed at any step, on a store that applies each step by itself", async () => {
    const killed = fc.record({ plan: blockPlans(10), before: fc.nat(9), kill: anyKill });
    let partial = 0;
    await fc.assert(
      fc.asyncProperty(killed, async ({ plan, before, kill }) => {
        const chain = growChain(plan);
        const first = chain.slice(0, Math.min(before, chain.length - 1));
        const store = await openTestStore();
        const at = await indexBlocks(store, { chain: first, checkpoint: startCheckpoint() });
        const dying = killedAt(store, kill);
        const died = await indexBlocks(dying, { chain, checkpoint: at, batch: chain.length }).then(
          () => false,
          () => true,
        );
        if (died) partial += 1;
        const checkpoint = (await getCheckpoint(store, CHAIN_ID)) ?? startCheckpoint();
        await rollbackTo(store, { checkpoint, target: targetOf(chain, checkpoint.blockNumber), guard });
        await indexBlocks(store, { chain, checkpoint });
        expectSame(await dump(store), await dumpFresh(chain));
        await store.close();
      }),
      { numRuns: randomRuns(30) },
    );
    expect(partial).to.be.at.least(leastCases(5));
  });

  it("ends the same when it is itself killed at any step and repeated", async () => {
    const killed = fc.record({
      plan: blockPlans(12),
      keep: fc.nat(11),
      kills: fc.array(anyKill, { minLength: 1, maxLength: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(killed, async ({ plan, keep, kills }) => {
        const chain = growChain(plan);
        const kept = chain.slice(0, Math.min(keep, chain.length - 1));
        const store = await openTestStore();
        await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
        const target = targetOf(chain, kept.length);
        for (const kill of kills) {
          const checkpoint = (await getCheckpoint(store, CHAIN_ID)) as CheckpointRow;
          const dying = killedAt(store, kill);
          await rollbackTo(dying, { checkpoint, target, guard }).catch(rethrowUnlessKilled);
        }
        const checkpoint = (await getCheckpoint(store, CHAIN_ID)) as CheckpointRow;
        await rollbackTo(store, { checkpoint, target, guard });
        expectSame(await dump(store), await dumpFresh(kept), {
          without: kept.length > 0 ? [] : [headers.name],
        });
        await store.close();
      }),
      { numRuns: randomRuns(40) },
    );
  });
});

class Killed extends Error {}

function rethrowUnlessKilled(error: unknown): void {
  if (!(error instanceof Killed)) throw error;
}

/** A store whose writes fail there. */
function killedAt(store: Store, kill: Kill): Store {
  let left = kill.step;
  const dying = Object.create(store) as Store;
  for (const name of ["find", "get", "getMany", "getLast", "count", "sum"] as const) {
    Object.defineProperty(dying, name, {
      value: (store[name] as (...args: unknown[]) => unknown).bind(store),
    });
  }
  Object.defineProperty(dying, "write", {
    value: async (steps: readonly WriteStep[]) => {
      for (const group of parallelGroups(steps)) {
        const isLast = group.some(({ collection }) => collection.name === kill.collection && left-- <= 0);
        if (!isLast) {
          await store.write(group);
          continue;
        }
        for (const [i, step] of group.entries()) {
          const isWhole = step.collection.name !== kill.collection && isDoneAt(kill, i);
          await store.write([isWhole ? step : await partOf(store, { step, kill })]);
        }
        throw new Killed();
      }
    },
  });
  return dying;
}

function isDoneAt({ isDone }: Kill, i: number): boolean {
  return isDone[i % isDone.length] === true;
}

async function partOf(store: Store, { step, kill }: { step: WriteStep; kill: Kill }): Promise<WriteStep> {
  const isDone = (_: unknown, i: number) => isDoneAt(kill, i);
  if (step.kind === "put") return { ...step, rows: step.rows.filter(isDone) };
  if (step.kind === "remove") return { ...step, keys: step.keys.filter(isDone) };
  if (step.kind === "require" || step.kind === "claim") return step;
  const rows: Record<string, unknown>[] = await store.find(step.collection, { filter: step.filter });
  const keys = rows.map((row) => Object.fromEntries(step.collection.key.map((field) => [field, row[field]])));
  return { kind: "remove", collection: step.collection, keys: keys.filter(isDone) };
}
