import { expect } from "chai";
import fc from "fast-check";
import { after, before, describe, it } from "mocha";
import type { OrderTerm } from "../../../shared/contract/order.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { checkpoints, type PoolRow, poolListings } from "../../store/collections.ts";
import type { PoolListField } from "../../store/pool-list/pool-sets.ts";
import { address, CHAIN_ID, checkpointRow, openTestStore, poolRow } from "../../test/kit/rows.ts";
import { toListing } from "../../views/pool-listing.ts";
import { createPoolLists, type PoolListAnswer, type PoolListRequest } from "./pool-list.ts";

const FIELDS: readonly PoolListField[] = [
  "chainId",
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
];
const SYMBOLS = ["", "AERO", "DAI", "USDC", "WETH", "wBTC", "Ξ"];

/** The n-th of many pools that share most of their values, so that orders have ties. */
function nthPool(n: number): PoolRow {
  return poolRow({
    poolAddress: address(0x900 + ((n * 37) % 64)),
    dexAddress: address(0xfac + (n % 2)),
    dexName: n % 2 === 0 ? "Uniswap V3" : "Other V3",
    token0Address: address(n % 5),
    token0Symbol: SYMBOLS[n % 7] as string,
    token0Decimals: n % 3 === 0 ? 6 : 18,
    token1Address: address(0x50 + (n % 4)),
    token1Symbol: SYMBOLS[(n + 3) % 7] as string,
    token1Decimals: n % 2 === 0 ? 8 : 18,
    createdAt: 1_700_000_000 + (n % 6) * 1_000,
    fee: [100, 500, 3_000, 10_000][n % 4] as number,
    tickSpacing: [1, 10, 60, 200][n % 4] as number,
  });
}
const POOLS = Array.from({ length: 60 }, (_, n) => nthPool(n));
const ELSEWHERE = [
  poolRow({ poolAddress: address(0xa00), family: "clones", token0Address: address(0), dexName: "Clone" }),
  poolRow({ poolAddress: address(0xa01), chainId: 1, token0Address: address(0) }),
];

/**
 * Every pool in the order requested, by comparing all values; ties by address in the last column's direction, or against
 * it where that is the time of creation.
 */
function sorted(pools: readonly PoolRow[], order: readonly OrderTerm<PoolListField>[]): string[] {
  const requested = order.length === 0 ? [{ field: "createdAt", direction: "desc" } as const] : order;
  // The chain is the same for all: it sets the direction of ties only where it is the only column.
  const last = (requested.filter(({ field }) => field !== "chainId").at(-1) ??
    requested.at(-1)) as OrderTerm<PoolListField>;
  const isReversed = last.field === "createdAt" && last.direction === "desc";
  const isAscending = last.field === "createdAt" ? isReversed : last.direction === "asc";
  const terms = [...requested, { field: "poolAddress", direction: isAscending ? "asc" : "desc" } as const];
  const compare = (a: PoolRow, b: PoolRow) => {
    for (const { field, direction } of terms) {
      if (a[field] === b[field]) continue;
      return (a[field] < b[field] ? -1 : 1) * (direction === "asc" ? 1 : -1);
    }
    return 0;
  };
  return [...pools].sort(compare).map(({ poolAddress }) => poolAddress);
}

describe("readPoolList", () => {
  let store: Store;
  let readPoolList: (request: PoolListRequest) => Promise<PoolListAnswer>;
  before(async () => {
    store = await openTestStore();
    await store.write([put(poolListings, [...POOLS, ...ELSEWHERE].map(toListing))]);
    readPoolList = createPoolLists(store);
  });
  after(() => store.close());

  const request = (options: Partial<PoolListRequest> = {}): PoolListRequest => ({
    chainId: CHAIN_ID,
    family: "dexb",
    token: undefined,
    order: [],
    limit: 10_000,
    offset: 0,
    ...options,
  });
  const addresses = async (options: Partial<PoolListRequest> = {}) =>
    (await readPoolList(request(options))).rows.map((row) => JSON.parse(row)[3] as string);

  it("has every column of a pool, and the time of its creation as text", async () => {
    const { rows } = await readPoolList(
      request({ order: [{ field: "poolAddress", direction: "asc" }], limit: 1 }),
    );
    const pool = POOLS.find(({ poolAddress }) => poolAddress === address(0x900)) as PoolRow;
    const cells = FIELDS.map((field) => (field === "createdAt" ? "2023-11-14T22:13:20+00:00" : pool[field]));
    expect(rows.map((row) => JSON.parse(row))).to.deep.equal([cells]);
  });

  it("comes newest first, then by address", async () => {
    expect(await addresses()).to.deep.equal(sorted(POOLS, []));
  });

  for (const field of FIELDS) {
    it(`can be ordered by ${field}, either way`, async () => {
      for (const direction of ["asc", "desc"] as const) {
        expect(await addresses({ order: [{ field, direction }] })).to.deep.equal(
          sorted(POOLS, [{ field, direction }]),
        );
      }
    });
  }

  it("can be ordered by any columns together, of all pools or those of a token", async () => {
    const term = fc.record({
      field: fc.constantFrom(...FIELDS),
      direction: fc.constantFrom("asc" as const, "desc" as const),
    });
    const order = fc.uniqueArray(term, { selector: ({ field }) => field, minLength: 2, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(order, fc.option(fc.nat(4), { nil: undefined }), async (terms, n) => {
        const token = n === undefined ? undefined : address(n);
        const own = POOLS.filter(({ token0Address }) => token === undefined || token0Address === token);
        expect(await addresses({ order: terms, token })).to.deep.equal(sorted(own, terms));
      }),
      { numRuns: 60 },
    );
  });

  it("holds a token's pools on either side, and nothing else", async () => {
    for (const token of [address(2), address(0x52)]) {
      const own = POOLS.filter((pool) => pool.token0Address === token || pool.token1Address === token);
      expect(own.length).to.be.within(10, 20);
      expect(await addresses({ token })).to.deep.equal(sorted(own, []));
    }
    expect(await addresses({ token: address(0x999) })).to.deep.equal([]);
  });

  it("keeps families and chains apart", async () => {
    expect(await addresses({ family: "clones" })).to.deep.equal([address(0xa00)]);
    expect(await addresses({ chainId: 1 })).to.deep.equal([address(0xa01)]);
    expect(await addresses({ family: "dexa" })).to.deep.equal([]);
    expect(await addresses({ family: "clones", token: address(0) })).to.deep.equal([address(0xa00)]);
  });

  it("is the same list page by page, whatever the size of a page", async () => {
    const orders: OrderTerm<PoolListField>[][] = [
      [],
      [{ field: "fee", direction: "asc" }],
      [{ field: "dexName", direction: "desc" }],
      [
        { field: "token0Symbol", direction: "asc" },
        { field: "fee", direction: "desc" },
      ],
    ];
    for (const order of orders) {
      for (const limit of [1, 7, 60, 61]) {
        const pages: string[] = [];
        for (let offset = 0; offset < POOLS.length; offset += limit)
          pages.push(...(await addresses({ order, limit, offset })));
        expect(pages).to.deep.equal(sorted(POOLS, order));
      }
    }
    expect(await addresses({ offset: 60 })).to.deep.equal([]);
    expect(await addresses({ offset: 100_000_000 })).to.deep.equal([]);
  });

  it("reports how far the chain is indexed", async () => {
    expect((await readPoolList(request())).checkpoint).to.equal(undefined);
    const checkpoint = checkpointRow();
    await store.write([put(checkpoints, [checkpoint])]);
    expect((await readPoolList(request())).checkpoint).to.deep.equal(checkpoint);
    expect((await readPoolList(request({ chainId: 1 }))).checkpoint).to.equal(undefined);
  });
});
