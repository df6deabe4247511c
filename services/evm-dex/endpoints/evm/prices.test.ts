import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { ParamsOf } from "../../../shared/contract/endpoint.ts";
import { MAX_LIST_ADDRESSES } from "../../../shared/contract/param.ts";
import { parseQuery } from "../../../shared/contract/parse.ts";
import { checkRows } from "../../../shared/contract/testkit/check-rows.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { checkpoints, poolEvents, priceLinks, tokens } from "../../store/collections.ts";
import { retentions } from "../../store/retention.ts";
import { address, CHAIN_ID, checkpointRow, eventRow, openTestStore } from "../../test/kit/rows.ts";
import { writeLinks } from "../../test/prices/write-links.ts";
import { endpoint } from "./prices.endpoint.ts";
import { pricesHandler } from "./prices.handler.ts";

const [USDC, WETH, MEME, LONE] = [1, 2, 3, 4].map((n) => address(n)) as [string, string, string, string];
const HEAD_TIME = 1_700_000_400;

describe("/evm/prices", () => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore();
    await writeLinks(store, {
      anchors: [USDC],
      links: [
        { blockNumber: 110, token: WETH, parent: USDC, price: 3_000, depth: 5e6 },
        { blockNumber: 120, token: MEME, parent: WETH, price: 0.001, depth: 62_000 },
        { blockNumber: 140, token: WETH, parent: USDC, price: 3_100, depth: 4e6 },
        { blockNumber: 150, token: MEME },
      ],
    });
    const named = [USDC, WETH, MEME].map((token, i) => {
      return {
        chainId: CHAIN_ID,
        address: token,
        symbol: ["USDC", "WETH", "MEME"][i] as string,
        decimals: 18,
      };
    });
    await store.write([
      put(tokens, named),
      put(checkpoints, [checkpointRow({ blockNumber: 200, blockTime: HEAD_TIME })]),
    ]);
  });
  afterEach(() => store.close());

  const ask = async (query: string) => {
    const params = parseQuery(endpoint, query).params as ParamsOf<typeof endpoint>;
    const context = { session: "test", signal: AbortSignal.timeout(10_000) };
    const { rows, version } = await pricesHandler({ store })(params, context);
    const cells = rows as (readonly (string | number | boolean | null)[])[];
    checkRows(endpoint as never, cells);
    const names = endpoint.columns.map(({ name }) => name);
    return { version, rows: cells.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]]))) };
  };

  it("says of a price its pool, its parent, its depth and its age", async () => {
    const { rows, version } = await ask(`tokens=${WETH}`);
    expect(rows).to.deep.equal([
      {
        ...{ token: WETH, symbol: "WETH", priceUsd: 3_100, source: "pools", sourcePool: address(0x900) },
        ...{ parentToken: USDC, hops: 1, depthUsd: 4e6, otherDepthUsd: 4e6, departed: false },
        ...{ block: 200, blockTime: HEAD_TIME, ageSeconds: HEAD_TIME - 140, nullReason: null },
      },
    ]);
    expect(version?.block).to.equal(200);
  });

  it("has why there is none", async () => {
    const whyOf = async (query: string) => (await ask(query)).rows.map(({ nullReason }) => nullReason);
    expect(await whyOf(`tokens=${MEME},${LONE},${USDC}`)).to.deep.equal(["no_path", "unknown_token", null]);
    expect(await whyOf(`tokens=${WETH}&at_block=99`)).to.deep.equal(["block_not_indexed"]);
    expect(await whyOf(`tokens=${WETH}&at_block=201`)).to.deep.equal(["block_not_indexed"]);
    const kept = { chainId: CHAIN_ID, rows: priceLinks.name, blockNumber: 130, fromBlock: 100 };
    await store.write([put(retentions, [{ ...kept, time: 1_700_000_100, goneTime: 0, goneBlock: 0 }])]);
    expect(await whyOf(`tokens=${WETH}&at_block=129`)).to.deep.equal(["block_not_kept"]);
    expect(await whyOf(`tokens=${WETH}&at_block=130`)).to.deep.equal([null]);
  });

  it("has prices as they were at a block, which is named beside the head", async () => {
    const at = async (block: number, known: number) => {
      const { rows, version } = await ask(`tokens=${WETH},${MEME}&at_block=${block}`);
      expect(version?.head).to.equal(200);
      expect(version?.block, "the last block with another price, or the first one").to.equal(known);
      return rows.map(({ priceUsd }) => priceUsd);
    };
    expect(await at(109, 100)).to.deep.equal([null, null]);
    expect(await at(139, 120)).to.deep.equal([3_000, 3]);
    expect(await at(145, 140)).to.deep.equal([3_100, 3.1]);
    expect(await at(150, 150)).to.deep.equal([3_100, null]);
  });

  it("has prices as they were at a time, and refuses one that is not indexed or kept", async () => {
    const timed = eventRow({ blockNumber: 155, time: HEAD_TIME - 100 });
    await store.write([put(poolEvents, [timed, { ...timed, blockNumber: 152, time: HEAD_TIME - 200 }])]);
    const at = async (time: number) => (await ask(`tokens=${WETH}&at_time=${time}`)).rows[0];
    expect(await at(HEAD_TIME)).to.include({ priceUsd: 3_100, block: 200, blockTime: HEAD_TIME });
    expect(await at(HEAD_TIME - 1)).to.include({ priceUsd: 3_100, block: 155, blockTime: HEAD_TIME - 100 });
    expect(await at(HEAD_TIME - 101)).to.include({ priceUsd: 3_100, block: 152, blockTime: HEAD_TIME - 200 });
    const refusal = (time: number) => at(time).catch(({ code, message }) => `${code}: ${message}`);
    expect(await refusal(HEAD_TIME + 1)).to.equal(
      `not_found: Cannot answer at_time: ${HEAD_TIME + 1} is above the indexed head, block 200 (${HEAD_TIME}, 2023-11-14T22:20:00+00:00).`,
    );
    expect(await refusal(5)).to.match(
      /^not_found: Cannot answer at_time: 5 is below the earliest that is kept/,
    );
    expect(() => parseQuery(endpoint, `tokens=${WETH}&at_time=5&at_block=5`)).to.throw(
      "Cannot parse at_time: it was sent together with at_block.",
    );
  });

  it("has no rows where nothing is indexed, so that the service says why", async () => {
    expect(await ask(`tokens=${WETH}&chain_id=1`)).to.deep.equal({ rows: [], version: undefined });
  });

  it("refuses a list that is too long, and names the item that is no address", async () => {
    const list = Array.from({ length: MAX_LIST_ADDRESSES }, (_, i) => address(i));
    expect((await ask(`tokens=${list.join(",")}`)).rows).to.have.length(MAX_LIST_ADDRESSES);
    expect(() => parseQuery(endpoint, `tokens=${[...list, WETH].join(",")}`)).to.throw(
      /has more than 500 items/,
    );
    expect(() => parseQuery(endpoint, `tokens=${WETH},0x12`)).to.throw(
      'Cannot parse tokens: "0x0000000000000000000000000000000000000002,0x12" has item 2, "0x12", which is not 0x followed by 40 hexadecimal digits.',
    );
  });
});
