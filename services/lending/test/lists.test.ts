import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { sortableNames } from "../../shared/contract/define.ts";
import type { Endpoint, Handler } from "../../shared/contract/endpoint.ts";
import type { OrderTerm } from "../../shared/contract/order.ts";
import { randomRuns } from "../../shared/testkit/describe.ts";
import { lendingaPools, lendingbVaults, lendingcMarkets } from "../contract.ts";
import { lendingaPoolsHandler } from "../endpoints/evm/lending/lendinga/v3/pools.handler.ts";
import { lendingbVaultsHandler } from "../endpoints/evm/lending/lendingb/v2/vaults.handler.ts";
import { lendingcMarketsHandler } from "../endpoints/evm/lending/lendingc/markets.handler.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import type { MarketRow, VaultRow } from "../protocols/rows.ts";
import { depsOf, type RowObject, rowsOf } from "./answers.ts";
import { address, marketRow, vaultRow } from "./fake-protocol.ts";
import { compareRows, defaultOrder, referenceMarket, referenceVault } from "./reference-list.ts";

/** Few tokens, of which some have a price and one is dear. */
const TOKENS = [1, 2, 3, 4, 5].map(address);
const PRICES = { [TOKENS[0] as string]: 1, [TOKENS[1] as string]: 2_345.678, [TOKENS[2] as string]: 1e-9 };

const token = fc.constantFrom(...TOKENS).map((address) => ({ address, symbol: `S${address.slice(-1)}` }));
/** Often equal, now and then nearly. */
const amount = fc.oneof(
  fc.constantFrom(0, 1, 1_000),
  fc.nat(9).map((n) => 1_000 * (1 + n * Number.EPSILON)),
  fc.double({ min: 0, max: 1e15, noNaN: true }),
);
const rate = fc.oneof(fc.constantFrom(null, 0, 0.05), fc.double({ min: -0.5, max: 3, noNaN: true }));
const share = fc.constantFrom(0, 0.25, 0.9, 1);
const cap = fc.oneof(fc.constant(null), amount);

const rates = { supplyApy: rate, borrowApy: rate, utilizationRate: share };
const amounts = { supply: amount, borrow: amount, available: amount };

/** The n-th vault has the n-th address; aave's reserves share theirs. */
const vaults = (protocolId: ProtocolId) =>
  fc
    .array(
      fc.record({
        ...{ ...rates, ...amounts, underlying: token, supplyCap: cap, borrowCap: cap },
        ...{ performanceFee: share, managementFee: fc.constantFrom(0, 0.02), ltv: rate },
        ...{ symbol: fc.constantFrom("a", "B", "é", ""), vaultName: fc.string({ maxLength: 2 }) },
        ...{ borrowable: fc.boolean(), depositEnabled: fc.boolean(), listed: fc.boolean() },
      }),
      { maxLength: 80 },
    )
    .map((list) =>
      list.map((query, n): VaultRow => vaultRow({ ...query, protocolId, address: address(0xb00 + n) })),
    );

const markets = fc
  .array(
    fc.record({
      ...{ ...rates, ...amounts, loan: token, collateral: token, ltv: share },
      listed: fc.boolean(),
    }),
    { maxLength: 80 },
  )
  .map((list) => list.map((query, n): MarketRow => marketRow({ ...query, marketId: `0x${n.toString(16)}` })));

interface ListQuery {
  readonly terms: readonly OrderTerm[];
  readonly filters: Readonly<Record<string, string>>;
  readonly limit: number;
  readonly offset: number;
}

function queriesOf(
  endpoint: Endpoint,
  filters: Record<string, fc.Arbitrary<string>>,
): fc.Arbitrary<ListQuery> {
  const direction = fc.constantFrom("asc" as const, "desc" as const);
  return fc.record({
    terms: fc
      .uniqueArray(fc.constantFrom(...sortableNames(endpoint)), { maxLength: 4 })
      .chain((fields) => fc.tuple(...fields.map((field) => direction.map((d) => ({ field, direction: d }))))),
    filters: fc.record(filters, { requiredKeys: [] }) as fc.Arbitrary<Record<string, string>>,
    limit: fc.integer({ min: 1, max: 40 }),
    offset: fc.constantFrom(0, 0, 1, 7, 100),
  });
}

function queryOf({ terms, filters, limit, offset }: ListQuery): string {
  const list = (direction: string) =>
    terms.map((term) => (term.direction === direction ? term.field : "")).join(",");
  const query = new URLSearchParams({ ...filters, limit: `${limit}`, offset: `${offset}` });
  if (terms.length > 0) {
    query.set("order_asc", list("asc"));
    query.set("order_desc", list("desc"));
  }
  return query.toString();
}

/** How each filter lets rows pass, by parameter. */
const PASSES: Readonly<Record<string, (row: RowObject, wanted: string) => boolean>> = {
  min_tvl_usd: ({ tvlUsd }, wanted) =>
    wanted === "0" || (tvlUsd !== null && Number(tvlUsd) >= Number(wanted)),
  listed: ({ listed }, wanted) => wanted === "all" || String(listed) === wanted,
  borrowable: ({ borrowable }, wanted) => wanted === "false" || borrowable === true,
  underlying_address: (row, wanted) => row.underlyingAddress === wanted,
  loan_address: (row, wanted) => row.loanAddress === wanted,
  collateral_address: (row, wanted) => row.collateralAddress === wanted,
  protocol_id: (row, wanted) => row.protocolId === wanted,
};

function pageOf(all: readonly RowObject[], query: ListQuery, unique: readonly string[]): RowObject[] {
  const passing = all.filter((row) =>
    Object.entries(query.filters).every(([name, wanted]) => PASSES[name]?.(row, wanted)),
  );
  const sorted = passing.sort(compareRows([...query.terms, ...defaultOrder(...unique)]));
  return sorted.slice(query.offset, query.offset + query.limit);
}

async function expectSame<E extends Endpoint>(query: {
  endpoint: E;
  handler: Handler<E>;
  query: ListQuery;
  all: readonly RowObject[];
  unique: readonly string[];
}): Promise<void> {
  const expected = pageOf(query.all, query.query, query.unique);
  const rows = await rowsOf(query.endpoint, query.handler, queryOf(query.query));
  const wanted = expected.map((row) =>
    Object.fromEntries(
      query.endpoint.columns.map(({ name }) => [
        name,
        name === "updatedAt" ? "2023-11-14T22:20:00+00:00" : row[name],
      ]),
    ),
  );
  // A cell that is −0 is written as 0.
  expect(rows).to.deep.equal(JSON.parse(JSON.stringify(wanted)));
}

const SIZE = {
  min_tvl_usd: fc.constantFrom("0", "1", "1000", "2345678"),
  listed: fc.constantFrom("true", "false", "all"),
};
const PROTOCOL = { protocol_id: fc.constantFrom("aave-v3", "euler-v2", "morpho-v1") };
const TOKEN = fc.constantFrom(...TOKENS);
const VAULT_FILTERS = {
  ...{ ...SIZE, ...PROTOCOL, underlying_address: TOKEN },
  borrowable: fc.constantFrom("true", "false"),
};

describe("lending lists against a plain reference", () => {
  it("filter, order and cut vaults as it does", async () => {
    const endpoint = lendingbVaults;
    await fc.assert(
      fc.asyncProperty(vaults("euler-v2"), queriesOf(endpoint, VAULT_FILTERS), async (rows, query) => {
        const handler = lendingbVaultsHandler(await depsOf({ protocol: "euler-v2", rows, prices: PRICES }));
        const all = rows.map((row) => referenceVault(row, PRICES));
        await expectSame({ endpoint, handler, query, all, unique: ["vaultAddress"] });
      }),
      { numRuns: randomRuns(300) },
    );
  });

  it("distinguish reserves of one pool by their token", async () => {
    const endpoint = lendingaPools;
    const pools = vaults("aave-v3").map((rows) =>
      rows.map((row, n) => ({
        ...row,
        address: address(0xa0 + (n % 2)),
        underlying: { address: address(0x100 + n), symbol: "T" },
      })),
    );
    await fc.assert(
      fc.asyncProperty(pools, queriesOf(endpoint, { ...SIZE, ...PROTOCOL }), async (rows, query) => {
        const handler = lendingaPoolsHandler(await depsOf({ protocol: "aave-v3", rows, prices: PRICES }));
        const all = rows.map((row) => referenceVault(row, PRICES));
        await expectSame({ endpoint, handler, query, all, unique: ["poolAddress", "underlyingAddress"] });
      }),
      { numRuns: randomRuns(100) },
    );
  });

  it("filter, order and cut markets as it does", async () => {
    const endpoint = lendingcMarkets;
    const filters = { ...SIZE, ...PROTOCOL, loan_address: TOKEN, collateral_address: TOKEN };
    await fc.assert(
      fc.asyncProperty(markets, queriesOf(endpoint, filters), async (rows, query) => {
        const handler = lendingcMarketsHandler(await depsOf({ protocol: "morpho-v1", rows, prices: PRICES }));
        const all = rows.map((row) => referenceMarket(row, PRICES));
        await expectSame({ endpoint, handler, query, all, unique: ["marketId"] });
      }),
      { numRuns: randomRuns(300) },
    );
  });
});
