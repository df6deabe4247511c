import { expect } from "chai";
import fc from "fast-check";
import { afterEach, beforeEach, it } from "mocha";
import type { RowText } from "../../../shared/contract/endpoint.ts";
import { put, remove, removeWhere, type Store } from "../../../shared/storage/port.ts";
import { describeLong, randomRuns } from "../../../shared/testkit/describe.ts";
import { EMPTY_V2_STATE, writeV2State } from "../../protocols/aerodrome-v2/state.ts";
import {
  type CheckpointRow,
  checkpoints,
  inactivePools,
  type PoolEventRow,
  type PoolStateRow,
  poolEvents,
  poolStates,
  pools,
  priceLinks,
} from "../../store/collections.ts";
import { type V2RollupRow, v2Rollups } from "../../store/v2-collections.ts";
import { CHAIN_ID, hash, openTestStore } from "../../test/kit/rows.ts";
import { HEAD, type Sample, sampleWorld } from "../../test/v2/v2-sample.ts";
import { HOUR, priceLink } from "../../test/v2/v2-world.ts";
import { rewardTokens } from "../../views/v2-facts.ts";
import { V2HeadTable } from "./v2-head-table.ts";
import { V2PoolList, type V2PoolListRow } from "./v2-pool-list.ts";

/** What an ingest may do to the store between two requests. */
type Step =
  | { readonly kind: "blocks"; readonly touched: readonly number[]; readonly count: number }
  | { readonly kind: "reorg"; readonly depth: number; readonly touched: readonly number[] }
  | { readonly kind: "create" }
  | { readonly kind: "price"; readonly usd: number };

const anyPools = fc.array(fc.nat(3), { maxLength: 3 });
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("blocks" as const),
    touched: anyPools,
    count: fc.integer({ min: 1, max: 150 }),
  }),
  fc.record({
    kind: fc.constant("reorg" as const),
    depth: fc.integer({ min: 1, max: 5 }),
    touched: anyPools,
  }),
  fc.record({ kind: fc.constant("create" as const) }),
  fc.record({ kind: fc.constant("price" as const), usd: fc.integer({ min: 1, max: 9_000 }) }),
);

describeLong("V2PoolList", () => {
  let store: Store;
  let sample: Sample;
  beforeEach(async () => {
    store = await openTestStore();
    sample = sampleWorld();
    await sample.world.write(store);
  });
  afterEach(() => store.close());

  const listOf = (options: Store = store) => {
    const rewards = rewardTokens([sample.world.chain]);
    const render = (row: V2PoolListRow) => JSON.stringify(row) as RowText;
    return new V2PoolList(new V2HeadTable(options, { chainId: CHAIN_ID, rewards }), { rewards, render });
  };
  const ALL = { limit: 1_000, offset: 0 };

  it("that followed every head equals one that reads only the last, whatever came between", async () => {
    // One chain for all runs: each goes on where the one before it stopped.
    const chain = new Chain(store, sample);
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 12 }), fc.gen(), async (steps, gen) => {
        const old = listOf();
        await old.read(ALL);
        for (const step of steps) {
          await chain.take(step);
          if (gen(fc.boolean)) expect(await old.read(ALL)).to.deep.equal(await listOf().read(ALL));
        }
        expect(await old.read(ALL)).to.deep.equal(await listOf().read(ALL));
      }),
      { numRuns: randomRuns(40) },
    );
  });

  it("reads little for a new head, and nothing for a known one", async () => {
    const reads: string[] = [];
    const counting = watched(store, (from, found) => {
      if (from !== checkpoints) reads.push(`${from.name} ${Array.isArray(found) ? found.length : "one"}`);
    });
    const list = listOf(counting);
    await list.read(ALL);
    reads.splice(0);
    await list.read(ALL);
    expect(reads).to.deep.equal([]);
    await new Chain(store, sample).take({ kind: "blocks", touched: [2], count: 1 });
    await list.read(ALL);
    expect(reads.filter((read) => read.startsWith("pool_states"))).to.deep.equal(["pool_states 1"]);
    expect(reads.filter((read) => read.startsWith("pools "))).to.deep.equal(["pools 0"]);
  });

  it("serves several requests at once, all at one head", async () => {
    const list = listOf();
    const answers = await Promise.all(Array.from({ length: 5 }, () => list.read(ALL)));
    for (const answer of answers) expect(answer).to.deep.equal(answers[0]);
  });

  it("is right although the ingest continued during the first read", async () => {
    const chain = new Chain(store, sample);
    const first: Step = { kind: "blocks", touched: [0, 1], count: 3 };
    const steps: Step[] = [first, { kind: "create" }, { kind: "reorg", depth: 2, touched: [3] }];
    const going = watched(store, async (from) => {
      if (from !== pools && from !== v2Rollups) return;
      const step = steps.shift();
      if (step !== undefined) await chain.take(step);
    });
    const list = listOf(going);
    expect(await list.read(ALL)).to.deep.equal(await listOf().read(ALL));
    expect(steps, "all happened meanwhile").to.deep.equal([]);
  });

  it("discards a block that was replaced during the read", async () => {
    const chain = new Chain(store, sample);
    const seen = new Map<string, number>();
    const going = watched(store, async (from) => {
      const time = (seen.get(from.name) ?? 0) + 1;
      seen.set(from.name, time);
      // Blocks come while the pools' parts are read, and go before the list is brought up to the head.
      if (from === v2Rollups && time === 1) await chain.take({ kind: "blocks", touched: [0, 1], count: 3 });
      if (from === pools && time === 2) await chain.take({ kind: "reorg", depth: 3, touched: [2] });
    });
    const list = listOf(going);
    expect(await list.read(ALL)).to.deep.equal(await listOf().read(ALL));
    expect(seen.get(pools.name)).to.be.greaterThan(1);
  });

  it("has inactive pools once they are read, until their first event", async () => {
    const { weth } = sample;
    const [old, later] = [
      sample.world.addPool({ ...weth, row: {} }),
      sample.world.addPool({ ...weth, row: {} }),
    ];
    const inactive = (pool: typeof old, reserve0: bigint) =>
      put(inactivePools, [
        {
          ...{ chainId: CHAIN_ID, poolAddress: pool.row.poolAddress },
          state: writeV2State({ ...EMPTY_V2_STATE, reserve0, reserve1: 0n }),
          ...{ balance0: 0n, balance1: 0n, balanceBlock: 99, priced: false },
        },
      ]);
    await store.write([put(pools, [old.row, later.row]), inactive(old, 2n * 10n ** 18n)]);
    const list = listOf();
    const tvlOf = async (pool: typeof old) => {
      const rows = (await list.read(ALL))?.rows.map((row) => JSON.parse(row));
      return rows?.find(({ poolId }) => poolId === pool.row.poolAddress).poolTvlUsd;
    };
    expect([await tvlOf(old), await tvlOf(later)]).to.deep.equal([6_000, null]);
    await store.write([inactive(later, 10n ** 18n)]);
    const chain = new Chain(store, sample);
    await chain.take({ kind: "blocks", touched: [], count: 1 });
    expect([await tvlOf(old), await tvlOf(later)], "with the next block").to.deep.equal([6_000, 3_000]);
    // An event of the one that was read: from now on its row among the states has its state.
    const [state] = await store.find(poolStates, { filter: { chainId: CHAIN_ID }, limit: 1 });
    const written = writeV2State({ ...EMPTY_V2_STATE, reserve0: 5n * 10n ** 18n, reserve1: 0n });
    const { poolAddress } = old.row;
    await store.write([put(poolStates, [{ ...(state as PoolStateRow), poolAddress, state: written }])]);
    await chain.touch(poolAddress);
    expect([await tvlOf(old), await tvlOf(later)]).to.deep.equal([15_000, 3_000]);
  });

  it("recovers after a failure of the store", async () => {
    let isDown = true;
    const failing = watched(store, (from) => {
      if (isDown && from === poolStates) throw new Error("down");
    });
    const list = listOf(failing);
    expect(await list.read(ALL).catch((error: Error) => error.message)).to.equal("down");
    isDown = false;
    expect(await list.read(ALL)).to.deep.equal(await listOf().read(ALL));
  });
});

/** Rows as they were before an event. */
interface Before {
  readonly number: number;
  readonly state: PoolStateRow;
  readonly bucket: V2RollupRow;
}

/** The store, which runs a write before it returns each read. */
function watched(store: Store, see: (from: { name: string }, found: unknown) => void | Promise<void>): Store {
  const watching = Object.create(store) as Store;
  for (const name of ["find", "get", "getMany", "getLast"] as const) {
    const read = store[name].bind(store) as (...args: unknown[]) => Promise<unknown>;
    Object.defineProperty(watching, name, {
      value: async (from: { name: string }, ...rest: unknown[]) => {
        const found = await read(from, ...rest);
        await see(from, found);
        return found;
      },
    });
  }
  return watching;
}

/** Writes what an ingest would: rows of events with what derives from them, the checkpoint last. */
class Chain {
  readonly #store: Store;
  readonly #sample: Sample;
  #checkpoint: CheckpointRow;
  #branch = 1;
  #created = 0;
  readonly #before: Before[] = [];

  constructor(store: Store, sample: Sample) {
    this.#store = store;
    this.#sample = sample;
    this.#checkpoint = sample.world.checkpoint;
  }

  async take(step: Step): Promise<void> {
    if (step.kind === "price") {
      const blockNumber = this.#checkpoint.blockNumber + 1;
      const { address } = this.#sample.weth.token0;
      await this.#store.write([put(priceLinks, [priceLink({ address, priceUsd: step.usd }, blockNumber)])]);
      // Prices change by events, though not of the pools they are written of.
      await this.#extend([0], 1);
    } else if (step.kind === "create") {
      await this.#create();
    } else if (step.kind === "blocks") {
      await this.#extend(step.touched, step.count);
    } else {
      await this.#rollBack(step.depth);
      this.#branch += 1;
      await this.#extend(step.touched, step.depth + 1);
    }
  }

  async #extend(touched: readonly number[], count: number): Promise<void> {
    const number = this.#checkpoint.blockNumber + count;
    await this.#touch(touched, number);
    await this.#head(number, count);
  }

  async #head(number: number, count: number): Promise<void> {
    const blockTime = this.#checkpoint.blockTime + 2 * count * (number % 7 === 0 ? 900 : 1);
    this.#checkpoint = {
      ...this.#checkpoint,
      blockNumber: number,
      blockHash: hash(number, this.#branch),
      blockTime,
    };
    await this.#store.write([put(checkpoints, [this.#checkpoint])]);
  }

  /** An event of one pool in a block of its own. */
  async touch(poolAddress: string): Promise<void> {
    const number = this.#checkpoint.blockNumber + 1;
    await this.#store.write([put(poolEvents, [await this.#event({ poolAddress, number, logIndex: 0 })])]);
    await this.#head(number, 1);
  }

  async #event({
    number,
    ...place
  }: {
    poolAddress: string;
    number: number;
    logIndex: number;
  }): Promise<PoolEventRow> {
    const [event] = await this.#store.find(poolEvents, { filter: { chainId: CHAIN_ID }, limit: 1 });
    if (event === undefined) throw new Error("The sample has no events.");
    return { ...event, ...place, blockNumber: number, blockHash: hash(number, this.#branch) };
  }

  /** An event of some pools in a block, which changes their state and their hour. */
  async #touch(touched: readonly number[], number: number): Promise<void> {
    const all = await this.#store.find(pools, { filter: { chainId: CHAIN_ID } });
    for (const [logIndex, n] of [...new Set(touched)].entries()) {
      const { poolAddress } = all[n] as (typeof all)[number];
      const key = { chainId: CHAIN_ID, poolAddress };
      const state = await this.#store.get(poolStates, key);
      const bucket = await this.#store.get(v2Rollups, { ...key, span: HOUR, start: HEAD - (HEAD % HOUR) });
      if (state === undefined || bucket === undefined) continue;
      this.#before.push({ number, state, bucket });
      const reserve0 = (number * 1e15).toString(16);
      await this.#store.write([
        put(poolEvents, [await this.#event({ poolAddress, number, logIndex })]),
        put(poolStates, [{ ...state, state: state.state.replace(/^\S+/, reserve0) }]),
        put(v2Rollups, [{ ...bucket, zeroForOneUsd: number }]),
      ]);
    }
  }

  /** Removes later blocks, and expects the state from before. */
  async #rollBack(depth: number): Promise<void> {
    const target = this.#checkpoint.blockNumber - depth;
    const beyond = { chainId: CHAIN_ID, blockNumber: { gt: target } };
    while ((this.#before.at(-1)?.number ?? 0) > target) {
      const { state, bucket } = this.#before.pop() as Before;
      await this.#store.write([put(poolStates, [state]), put(v2Rollups, [bucket])]);
    }
    const created = await this.#store.find(pools, {
      filter: { chainId: CHAIN_ID, createdBlock: { gt: target } },
    });
    await this.#store.write([
      removeWhere(poolEvents, beyond),
      removeWhere(priceLinks, beyond),
      remove(
        pools,
        created.map(({ poolAddress }) => ({ chainId: CHAIN_ID, poolAddress })),
      ),
    ]);
    this.#checkpoint = { ...this.#checkpoint, blockNumber: target };
  }

  async #create(): Promise<void> {
    const number = this.#checkpoint.blockNumber + 1;
    this.#created += 1;
    const { row } = this.#sample.weth;
    const poolAddress = `0x${(this.#branch * 1_000 + this.#created).toString(16).padStart(40, "e")}`;
    const createdAt = this.#checkpoint.blockTime + 2;
    await this.#store.write([put(pools, [{ ...row, poolAddress, createdAt, createdBlock: number }])]);
    await this.#head(number, 1);
  }
}
