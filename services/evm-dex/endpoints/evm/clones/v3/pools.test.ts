import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import type { Cell } from "../../../../../shared/contract/column.ts";
import { parseQuery } from "../../../../../shared/contract/parse.ts";
import { renderTable } from "../../../../../shared/contract/render-table.ts";
import { checkRows } from "../../../../../shared/contract/testkit/check-rows.ts";
import { put, type Store } from "../../../../../shared/storage/port.ts";
import { checkpoints, poolListings } from "../../../../store/collections.ts";
import { depsOf } from "../../../../test/kit/answers.ts";
import { address, checkpointRow, openTestStore, poolRow } from "../../../../test/kit/rows.ts";
import { toListing } from "../../../../views/pool-listing.ts";
import { endpoint as dexbPools } from "../../dexb/v3/pools.endpoint.ts";
import { endpoint } from "./pools.endpoint.ts";
import { clonesPoolsHandler } from "./pools.handler.ts";

const [WETH, USDC, CAKE] = [address(0x10), address(0x11), address(0x12)];
const clone = { family: "clones", token0Address: WETH, token1Address: USDC } as const;
const POOLS = [
  poolRow({
    ...clone,
    poolAddress: address(0x903),
    dexName: "PancakeSwap V3",
    fee: 2_500,
    createdAt: 1_700_000_100,
  }),
  poolRow({ ...clone, poolAddress: address(0x902), dexName: "SushiSwap V3", createdAt: 1_700_000_200 }),
  poolRow({ ...clone, poolAddress: address(0x901), token1Address: CAKE, createdAt: 1_700_000_200 }),
  poolRow({ ...clone, poolAddress: address(0x905), chainId: 1, dexName: "SushiSwap V3" }),
  poolRow({ poolAddress: address(0x906) }),
];

describe("/evm/clones/v3/pools", () => {
  let store: Store;
  before(async () => {
    store = await openTestStore();
    await store.write([
      put(poolListings, POOLS.map(toListing)),
      put(checkpoints, [checkpointRow({ chainId: 1, blockNumber: 77, fromBlock: 1 })]),
    ]);
  });
  after(() => store.close());

  /** Rows of the body, as a client reads them. */
  const get = async (query: string) => {
    const handler = clonesPoolsHandler(depsOf(store));
    const { params } = parseQuery(endpoint, query);
    const answer = await handler(params, { session: "", signal: new AbortController().signal });
    const [table] = JSON.parse(renderTable(endpoint, answer.rows)) as [{ data: Cell[][] }];
    checkRows(endpoint, table.data);
    return { rows: table.data, version: answer.version };
  };
  const pools = async (query: string) => (await get(query)).rows.map((row) => row[3]);

  it("lists the family's pools of Base, newest first, then by address", async () => {
    expect(await pools("")).to.deep.equal([address(0x901), address(0x902), address(0x903)]);
    expect(await pools("limit=1&offset=1")).to.deep.equal([address(0x902)]);
  });

  it("lists each pool as its factory created it, and none of other families", async () => {
    const { rows } = await get("order_asc=fee");
    const pair = [WETH, "WETH", 18, USDC, "USDC", 6];
    const created = "2023-11-14T22:15:00+00:00";
    const pancake = [8453, address(0xfac), "PancakeSwap V3", address(0x903), ...pair, created, 2_500, 60];
    expect(rows[0]).to.deep.equal(pancake);
    expect(rows).to.have.length(3);
  });

  it("keeps Ethereum apart, and has its indexed block", async () => {
    const { rows, version } = await get("chain_id=1");
    expect(rows.map((row) => [row[0], row[3]])).to.deep.equal([[1, address(0x905)]]);
    expect(version).to.include({ block: 77, fromBlock: 1 });
    expect((await get("")).version, "nothing of Base is indexed").to.equal(undefined);
  });

  it("can be narrowed to a token and ordered by columns together", async () => {
    expect(await pools(`token_address=${CAKE}`)).to.deep.equal([address(0x901)]);
    expect(await pools("order_desc=dexName&order_asc=,createdAt")).to.deep.equal([
      address(0x901),
      address(0x902),
      address(0x903),
    ]);
  });

  it("has the columns of dexb's list: one row serves both", () => {
    expect(endpoint.columns).to.deep.equal(dexbPools.columns);
  });
});
