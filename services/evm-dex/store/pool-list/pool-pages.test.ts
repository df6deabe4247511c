import { expect } from "chai";
import fc from "fast-check";
import { after, afterEach, before, beforeEach, describe, it } from "mocha";
import { headers } from "../../../shared/index/evm/headers.ts";
import { put, type Query, remove, type Store } from "../../../shared/storage/port.ts";
import { describeLong, randomRuns } from "../../../shared/testkit/describe.ts";
import { Planner } from "../../test/kit/planner.ts";
import { address, CHAIN_ID, checkpointRow, hash, openTestStore, poolRow } from "../../test/kit/rows.ts";
import { toListing } from "../../views/pool-listing.ts";
import {
  type CheckpointRow,
  checkpoints,
  discoveries,
  type PoolListingRow,
  type PoolRow,
  poolListings,
  pools,
} from "../collections.ts";
import { type PageTuning, PoolPages } from "./pool-pages.ts";
import { completeOrder, type PoolListField, type PoolSet, type Term } from "./pool-sets.ts";

const FIELDS = [
  "dexAddress",
  "dexName",
  "poolAddress",
  "token0Address",
  "token0Symbol",
  "token0Decimals",
  "token1Address",
  "token1Symbol",
  "token1Decimals",
  "createdAt",
  "fee",
  "tickSpacing",
] as const satisfies readonly PoolListField[];

/** UTF-16 puts the last before the one before it, UTF-8 does not. */
const SYMBOLS = ["", "DAI", "WETH", "wBTC", "\u{FF21}", "\u{1F680}"];

/** The n-th of many pools: a few values most of them share, and some that few do. */
function nthPool(n: number, block = 100 + (n >> 2)): PoolRow {
  const mixed = (n * 2_654_435_761) % 2 ** 32;
  const pick = (bits: number, share: number): number =>
    (mixed >>> bits) % 16 < share ? 0 : (mixed >>> bits) % 7;
  return poolRow({
    poolAddress: address(0x1000 + (mixed % 0x8000_0000)),
    dexAddress: address(0xfac + pick(3, 12)),
    dexName: `DEX ${pick(5, 8)}`,
    token0Address: address(n % 9 === 0 ? 0 : pick(7, 10)),
    token0Symbol: SYMBOLS[pick(9, 9) % 6] as string,
    token0Decimals: 18 - pick(11, 14),
    // Some hold a token as token1 that others hold as token0.
    token1Address: address(n % 9 === 0 ? 1 + pick(13, 2) : 0x100 + (n % 40)),
    token1Symbol: SYMBOLS[n % 6] as string,
    token1Decimals: 6 + pick(2, 12),
    createdAt: 1_700_000_000 + block * 2,
    createdBlock: block,
    fee: [100, 500, 3_000, 10_000][pick(4, 11) % 4] as number,
    tickSpacing: [1, 10, 60, 200][pick(4, 11) % 4] as number,
  });
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === "string" && typeof b === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a === b ? 0 : a < b ? -1 : 1;
}

/** The page by its meaning: all pools, filtered and sorted. */
function reference(
  all: readonly PoolRow[],
  {
    token,
    order,
    skip,
    limit,
  }: { token: string | undefined; order: readonly Term[]; skip: number; limit: number },
): string[] {
  return all
    .filter((pool) => token === undefined || pool.token0Address === token || pool.token1Address === token)
    .sort((a, b) => {
      for (const { field, direction } of order) {
        const sign = compare(a[field], b[field]);
        if (sign !== 0) return direction === "asc" ? sign : -sign;
      }
      return 0;
    })
    .slice(skip, skip + limit)
    .map(({ poolAddress }) => poolAddress);
}

const term: fc.Arbitrary<Term> = fc.record({
  field: fc.constantFrom(...FIELDS),
  direction: fc.constantFrom("asc" as const, "desc" as const),
});
const anyRequest = fc.record({
  requested: fc.uniqueArray(term, { selector: ({ field }) => field, maxLength: 4 }),
  token: fc.constantFrom(undefined, address(0), address(1), address(0x105), address(0x999)),
  skip: fc.oneof(fc.nat(420), fc.nat(20)),
  limit: fc.constantFrom(1, 3, 20, 1_000),
});

/** A page of a list to read. */
interface Look {
  readonly order: readonly Term[];
  readonly token: string | undefined;
  readonly share: number;
}
const ORDERS: readonly Term[][] = [
  [],
  [{ field: "fee", direction: "desc" }],
  [{ field: "poolAddress", direction: "asc" }],
];

const anyLook: fc.Arbitrary<Look> = fc.record({
  order: fc.constantFrom(...ORDERS),
  token: fc.constantFrom(undefined, address(0)),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
});

/** All plans for a page: sort always or never, ranks from the first row or never. */
const TUNINGS: readonly PageTuning[] = [
  { sortCost: 1_000, rankFrom: 0, rankSpacing: 7, cellsAtOnce: 3 },
  { sortCost: 2, rankFrom: 5, rankSpacing: 60, cellsAtOnce: 20 },
  { sortCost: 10, rankFrom: 1_000_000, rankSpacing: 1, cellsAtOnce: 500 },
  { sortCost: 0, rankFrom: 0, rankSpacing: 1, cellsAtOnce: 500 },
];

describeLong("PoolPages", () => {
  const all = Array.from({ length: 400 }, (_, n) => nthPool(n));
  const elsewhere = [
    poolRow({ poolAddress: address(0xa00), family: "clones", token0Address: address(0) }),
    poolRow({ poolAddress: address(0xa01), chainId: 1, token0Address: address(0) }),
  ];
  const setOf = (token: string | undefined): PoolSet => ({
    chainId: CHAIN_ID,
    family: "dexb",
    token,
    where: {},
  });
  const addressesOf = (rows: readonly string[]): string[] => rows.map((row) => JSON.parse(row)[3] as string);

  describe("over unchanging pools", () => {
    let store: Store;
    before(async () => {
      store = await openTestStore();
      const rows = [...all, ...elsewhere];
      await store.write([
        put(pools, rows),
        put(poolListings, rows.map(toListing)),
        put(checkpoints, [checkpointRow()]),
      ]);
    });
    after(() => store.close());

    for (const tuning of TUNINGS) {
      it(`are those of the whole list, sorted: ${JSON.stringify(tuning)}`, async () => {
        const pages = new PoolPages(store, tuning);
        await fc.assert(
          fc.asyncProperty(anyRequest, async ({ requested, token, skip, limit }) => {
            const order = completeOrder(requested);
            const page = await pages.read(setOf(token), order, { skip, limit });
            expect(addressesOf(page)).to.deep.equal(reference(all, { token, order, skip, limit }));
          }),
          { numRuns: randomRuns(120) },
        );
      });
    }

    it("sort nothing where an index has the order, and never read a table through", async () => {
      const planner = new Planner();
      try {
        const { listening, requested } = listenTo(store);
        const pages = new PoolPages(listening, TUNINGS[0]);
        for (const field of FIELDS) {
          for (const direction of ["asc", "desc"] as const) {
            for (const token of [undefined, address(0)]) {
              const order = completeOrder([{ field, direction }]);
              await pages.read(setOf(token), order, { skip: 100, limit: 10 });
              expect(requested.length).to.be.above(0);
              for (const query of requested.splice(0)) {
                const plan = planner.explain(poolListings, query);
                expect(plan, `${field} ${direction} of ${token}: ${plan.join("; ")}`).to.have.length(1);
                expect(plan[0]).to.match(/^SEARCH .* USING (COVERING )?INDEX /);
              }
            }
          }
        }
      } finally {
        planner.close();
      }
    });

    it("reach a deep page from a rank, not by skipping the rows before it", async () => {
      const { listening, requested } = listenTo(store);
      const pages = new PoolPages(listening, {
        sortCost: 1_000,
        rankFrom: 10,
        rankSpacing: 20,
        cellsAtOnce: 500,
      });
      const order = completeOrder([{ field: "fee", direction: "asc" }]);
      await pages.read(setOf(undefined), order, { skip: 390, limit: 5 });
      requested.length = 0;
      for (const skip of [390, 200, 37, 395]) await pages.read(setOf(undefined), order, { skip, limit: 5 });
      expect(requested.length).to.be.within(4, 8);
      for (const query of requested) expect(query.skip).to.be.below(20);
    });
  });

  describe("over changing pools", () => {
    let store: Store;
    let listed: PoolRow[];
    let head: CheckpointRow;
    let next: number;
    beforeEach(async () => {
      store = await openTestStore();
      listed = [];
      next = 0;
      head = checkpointRow({ blockNumber: 99, blockHash: hash(99) });
      await store.write([put(checkpoints, [head])]);
    });
    afterEach(() => store.close());

    const putPools = (rows: readonly PoolRow[]) => [put(pools, rows), put(poolListings, rows.map(toListing))];
    /** A block with new pools. */
    const grow = async (count: number, branch: number): Promise<void> => {
      const number = head.blockNumber + 1;
      const created = Array.from({ length: count }, () => nthPool(next++, number));
      listed = [...listed, ...created];
      head = { ...head, blockNumber: number, blockHash: hash(number, branch) };
      const header = { chainId: CHAIN_ID, number, hash: head.blockHash, parentHash: "", time: number };
      await store.write([...putPools(created), put(headers, [header]), put(checkpoints, [head])]);
    };
    /** Replaces the last blocks by others. */
    const reorg = async (depth: number, count: number): Promise<void> => {
      const number = Math.max(99, head.blockNumber - depth);
      const gone = listed.filter((pool) => pool.createdBlock > number);
      const goneHeaders = Array.from({ length: head.blockNumber - number }, (_, i) => ({
        chainId: CHAIN_ID,
        number: number + 1 + i,
      }));
      listed = listed.filter((pool) => pool.createdBlock <= number);
      await store.write([remove(pools, gone), remove(poolListings, gone), remove(headers, goneHeaders)]);
      head = { ...head, blockNumber: number };
      for (let i = 0; i < depth; i++) await grow(count, next + 1);
    };
    /** A factory is discovered that created pools long ago. */
    const discover = async (count: number): Promise<void> => {
      const old = Array.from({ length: count }, () => nthPool(next++, 50));
      listed = [...listed, ...old];
      const discovery = { chainId: CHAIN_ID, factory: address(next), blockNumber: 90 };
      await store.write([...putPools(old), put(discoveries, [discovery])]);
    };

    /** Several lists and depths: ranks are started, and extended after pools were added. */
    const expectRight = async (pages: PoolPages, looks: readonly Look[]): Promise<void> => {
      for (const { order: requested, token, share } of looks) {
        const order = completeOrder(requested);
        const request = { token, order, skip: Math.floor(listed.length * share), limit: 3 };
        const page = await pages.read(setOf(token), order, request);
        expect(addressesOf(page)).to.deep.equal(reference(listed, request));
      }
    };

    it("are right after each block, reorg and discovery, by ranks stored before them", async () => {
      const change = fc.oneof(
        { weight: 4, arbitrary: fc.record({ kind: fc.constant("grow" as const), count: fc.nat(12) }) },
        {
          weight: 2,
          arbitrary: fc.record({
            kind: fc.constant("reorg" as const),
            depth: fc.integer({ min: 1, max: 3 }),
            count: fc.nat(6),
          }),
        },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant("discover" as const), count: fc.nat(9) }) },
      );
      const step = fc.record({ change, looks: fc.array(anyLook, { minLength: 1, maxLength: 4 }) });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
          const pages = new PoolPages(store, {
            sortCost: 1_000,
            rankFrom: 0,
            rankSpacing: 3,
            cellsAtOnce: 500,
          });
          await grow(20, 0);
          for (const { change, looks } of steps) {
            if (change.kind === "grow") await grow(change.count, 0);
            else if (change.kind === "reorg") await reorg(change.depth, change.count);
            else await discover(change.count);
            await expectRight(pages, looks);
          }
        }),
        { numRuns: randomRuns(15) },
      );
    });

    it("are right again after a block came while ranks were stored", async () => {
      await grow(60, 0);
      let busy = true;
      const { listening } = listenTo(store, async () => {
        if (busy && listed.length < 70) await grow(1, 0);
      });
      const pages = new PoolPages(listening, {
        sortCost: 1_000,
        rankFrom: 0,
        rankSpacing: 4,
        cellsAtOnce: 500,
      });
      const request = { token: undefined, order: completeOrder([]), skip: 50, limit: 3 };
      await pages.read(setOf(undefined), request.order, request);
      busy = false;
      expect(listed.length, "blocks came meanwhile").to.equal(70);
      for (const skip of [8, 50, 66]) {
        const page = await pages.read(setOf(undefined), request.order, { ...request, skip });
        expect(addressesOf(page)).to.deep.equal(reference(listed, { ...request, skip }));
      }
    });

    it("keep their ranks through blocks with new pools, and lose them with a reorg", async () => {
      const { listening, requested } = listenTo(store);
      const pages = new PoolPages(listening, {
        sortCost: 1_000,
        rankFrom: 0,
        rankSpacing: 5,
        cellsAtOnce: 500,
      });
      const readLast = async (): Promise<number> => {
        requested.length = 0;
        const skip = listed.length - 3;
        await pages.read(setOf(undefined), completeOrder([]), { skip, limit: 3 });
        return requested.length;
      };
      await grow(100, 0);
      expect(await readLast(), "made").to.be.above(18);
      for (let block = 0; block < 5; block++) {
        await grow(2, 0);
        expect(await readLast(), "kept").to.be.below(8);
      }
      await reorg(2, 2);
      expect(await readLast(), "made anew").to.be.above(18);
      await discover(1);
      expect(await readLast(), "made anew").to.be.above(18);
    });
  });
});

/** The same store, which records reads of the listings; `work` runs before each result. */
function listenTo(
  store: Store,
  work: () => Promise<void> = async () => {},
): { listening: Store; requested: Query<PoolListingRow>[] } {
  const requested: Query<PoolListingRow>[] = [];
  const listening: Store = Object.create(store, {
    find: {
      value: async (from: never, query: never) => {
        if (from === poolListings) {
          requested.push(query);
          await work();
        }
        return store.find(from, query);
      },
    },
    ...Object.fromEntries(
      (["get", "count"] as const).map((name) => [name, { value: store[name].bind(store) }]),
    ),
  });
  return { listening, requested };
}
